/* The conditional operator picks what is allocated, kept or released. */
#include <stdlib.h>
#include <string.h>

int pick_alloc_bad(const char *s, int upper) {
  char *t = upper ? strdup(s) : NULL; // LEAK
  if (!t)
    return 0;
  return t[0];
}

int pick_alloc_ok(const char *s, int upper) {
  char *t = upper ? strdup(s) : NULL;
  if (!t)
    return 0;
  int c = t[0];
  free(t);
  return c;
}

int pick_free_bad(int which) {
  char *a = malloc(4); // LEAK
  char *b = malloc(8); // LEAK
  free(which ? a : b);
  return which;
}

int pick_free_ok(int which) {
  char *a = malloc(4);
  char *b = malloc(8);
  free(which ? a : b);
  free(which ? b : a);
  return which;
}

int longer_bad(const char *x, const char *y) {
  char *a = strdup(x);
  char *b = strdup(y); // LEAK
  if (!a || !b) {
    free(a);
    free(b);
    return -1;
  }
  char *best = strlen(a) > strlen(b) ? a : b;
  int c = best[0];
  free(a);
  best = NULL;
  return c;
}

int longer_ok(const char *x, const char *y) {
  char *a = strdup(x);
  char *b = strdup(y);
  if (!a || !b) {
    free(a);
    free(b);
    return -1;
  }
  char *best = strlen(a) > strlen(b) ? a : b;
  int c = best[0];
  free(best == a ? b : a);
  free(best);
  return c;
}

int either_alloc_bad(size_t n, int zero) {
  char *p = zero ? calloc(1, n)
                 : malloc(n);  // LEAK
  if (p && zero)
    free(p);
  return n > 0;
}

int either_alloc_ok(size_t n, int zero) {
  char *p = zero ? calloc(1, n)
                 : malloc(n);
  if (p)
    free(p);
  return n > 0;
}
