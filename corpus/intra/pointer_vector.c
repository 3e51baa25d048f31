/* A growing vector of pointers: the elements move along with realloc. */
#include <stdlib.h>
#include <string.h>

int two_then_grow_bad(const char *s) {
  char **v = malloc(sizeof *v);
  if (!v)
    return -1;
  v[0] = strdup(s); // LEAK
  char **w = realloc(v, 2 * sizeof *v);
  if (!w) {
    free(v[0]);
    free(v);
    return -1;
  }
  w[1] = strdup(s);
  free(w[1]);
  free(w); // LOST
  return 0;
}

int two_then_grow_ok(const char *s) {
  char **v = malloc(sizeof *v);
  if (!v)
    return -1;
  v[0] = strdup(s);
  char **w = realloc(v, 2 * sizeof *v);
  if (!w) {
    free(v[0]);
    free(v);
    return -1;
  }
  w[1] = strdup(s);
  free(w[1]);
  free(w[0]);
  free(w);
  return 0;
}

int append_fails_bad(char ***vec, int *n, const char *s) {
  char *item = strdup(s); // LEAK
  if (!item)
    return -1;
  char **grown = realloc(*vec, (*n + 1) * sizeof **vec);
  if (!grown)
    return -1;
  grown[*n] = item;
  *n += 1;
  *vec = grown;
  return 0;
}

int append_fails_ok(char ***vec, int *n, const char *s) {
  char *item = strdup(s);
  if (!item)
    return -1;
  char **grown = realloc(*vec, (*n + 1) * sizeof **vec);
  if (!grown) {
    free(item);
    return -1;
  }
  grown[*n] = item;
  *n += 1;
  *vec = grown;
  return 0;
}
