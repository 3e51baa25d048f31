/* Lowest layer: allocation. */
#include "chain.h"
#include <stdlib.h>
#include <string.h>

void *pool_get(size_t n) {
  void *p = malloc(n);
  if (!p)
    abort();
  return p;
}

void pool_put(void *p) {
  free(p);
}

char *pool_copy(const char *s, size_t n) {
  char *p = pool_get(n + 1);
  memcpy(p, s, n);
  p[n] = '\0';
  return p;
}
