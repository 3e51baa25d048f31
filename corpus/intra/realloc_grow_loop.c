/* A buffer that grows in a loop; the failure in a later round loses what earlier rounds made. */
#include <stdio.h>
#include <stdlib.h>

char *slurp_bad(FILE *f) {
  size_t cap = 0, len = 0;
  char *buf = NULL;
  int c;
  while ((c = fgetc(f)) != EOF) {
    if (len + 1 >= cap) {
      cap = cap ? cap * 2 : 16;
      char *tmp = realloc(buf, cap); // LEAK
      if (!tmp)
        return NULL;
      buf = tmp;
    }
    buf[len++] = (char)c;
  }
  if (buf)
    buf[len] = '\0';
  return buf;
}

char *slurp_ok(FILE *f) {
  size_t cap = 0, len = 0;
  char *buf = NULL;
  int c;
  while ((c = fgetc(f)) != EOF) {
    if (len + 1 >= cap) {
      cap = cap ? cap * 2 : 16;
      char *tmp = realloc(buf, cap);
      if (!tmp) {
        free(buf);
        return NULL;
      }
      buf = tmp;
    }
    buf[len++] = (char)c;
  }
  if (buf)
    buf[len] = '\0';
  return buf;
}

int grow_ints_bad(int n) {
  int cap = 0, len = 0;
  int *v = NULL, *nv;
  for (int i = 0; i < n; i++) {
    if (len == cap) {
      cap = 2 * cap + 4;
      if ((nv = realloc(v, cap * sizeof *v)) == NULL) // LEAK
        break;
      v = nv;
    }
    v[len++] = i;
  }
  if (len < n)
    return -1;
  free(v);
  return 0;
}

int grow_ints_ok(int n) {
  int cap = 0, len = 0;
  int *v = NULL, *nv;
  for (int i = 0; i < n; i++) {
    if (len == cap) {
      cap = 2 * cap + 4;
      if ((nv = realloc(v, cap * sizeof *v)) == NULL)
        break;
      v = nv;
    }
    v[len++] = i;
  }
  free(v);
  return len < n ? -1 : 0;
}
