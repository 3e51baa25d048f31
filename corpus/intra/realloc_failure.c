/* A failed realloc leaves the old block alive. */
#include <stdlib.h>

int overwrite_self_bad(unsigned n) {
  int *v = malloc(4 * sizeof *v); // LEAK
  if (!v)
    return -1;
  v[0] = 1;
  v = realloc(v, (n + 8L) * sizeof *v); // LOST
  if (!v)
    return -1;
  free(v);
  return 0;
}

int overwrite_self_ok(unsigned n) {
  int *v = malloc(4 * sizeof *v);
  if (!v)
    return -1;
  v[0] = 1;
  int *w = realloc(v, (n + 8L) * sizeof *v);
  if (!w) {
    free(v);
    return -1;
  }
  free(w);
  return 0;
}

int tmp_but_return_bad(size_t n) {
  char *buf = calloc(n, 1); // LEAK
  if (!buf)
    return -1;
  char *bigger = realloc(buf, n + 64);
  if (bigger == NULL)
    return -2;
  buf = bigger;
  buf[0] = 'x';
  free(buf);
  return 0;
}

int tmp_but_return_ok(size_t n) {
  char *buf = calloc(n, 1);
  if (!buf)
    return -1;
  char *bigger = realloc(buf, n + 64);
  if (bigger == NULL) {
    free(buf);
    return -2;
  }
  buf = bigger;
  buf[0] = 'x';
  free(buf);
  return 0;
}

int shrink_bad(unsigned n) {
  char *buf = malloc(256);
  if (!buf)
    return -1;
  char *fit = realloc(buf, n + 1L); // LEAK
  if (fit) {
    fit[0] = 0;
    return 1;
  }
  free(buf);
  return 0;
}

int shrink_ok(unsigned n) {
  char *buf = malloc(256);
  if (!buf)
    return -1;
  char *fit = realloc(buf, n + 1L);
  if (fit) {
    fit[0] = 0;
    free(fit);
    return 1;
  }
  free(buf);
  return 0;
}
