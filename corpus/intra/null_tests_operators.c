/* Null tests inside operators: ternary, logical and, bool variables, while. */
#include <stdbool.h>
#include <stdlib.h>

int ternary_bad(size_t n) {
  char *p = malloc(n); // LEAK
  return p ? 0 : -1;
}

int ternary_ok(size_t n) {
  char *p = malloc(n);
  return p ? (free(p), 0) : -1;
}

int logical_and_bad(size_t n, int use) {
  char *p = malloc(n + 1); // LEAK
  if (p && use) {
    p[0] = 1;
    free(p);
  }
  return 0;
}

int logical_and_ok(size_t n, int use) {
  char *p = malloc(n + 1);
  if (p && use)
    p[0] = 1;
  if (p)
    free(p);
  return 0;
}

int bool_variable_bad(size_t n) {
  int *p = calloc(n, sizeof *p); // LEAK
  bool failed = p == NULL;
  if (!failed)
    return 1;
  free(p);
  return 0;
}

int bool_variable_ok(size_t n) {
  int *p = calloc(n, sizeof *p);
  bool failed = p == NULL;
  if (failed)
    return 1;
  free(p);
  return 0;
}

int logical_or_bad(size_t n, int off) {
  char *p = NULL;
  if (off || (p = malloc(n)) == NULL) // LEAK
    return -1;
  return off;
}

int logical_or_ok(size_t n, int off) {
  char *p = NULL;
  if (off || (p = malloc(n)) == NULL)
    return -1;
  free(p);
  return off;
}

int loop_until_bad(size_t n) {
  char *p;
  while (!(p = malloc(n))) // LEAK
    if ((n /= 2) == 0)
      return -1;
  return n > 0;
}

int loop_until_ok(size_t n) {
  char *p;
  while (!(p = malloc(n)))
    if ((n /= 2) == 0)
      return -1;
  free(p);
  return n > 0;
}

int nested_if_bad(size_t n) {
  char *a = malloc(n);
  if (a) {
    char *b = malloc(n); // LEAK
    if (b) {
      b[0] = a[0] = 0;
    }
    free(a);
  }
  return 0;
}

int nested_if_ok(size_t n) {
  char *a = malloc(n);
  if (a) {
    char *b = malloc(n);
    if (b) {
      b[0] = a[0] = 0;
      free(b);
    }
    free(a);
  }
  return 0;
}
