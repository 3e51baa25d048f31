// Calls of allocation wrappers are allocation sites of their own, by result and by out-parameter.
#include <stdlib.h>

static void *must_allocate(size_t n) {
  void *p = malloc(n);
  if (!p)
    exit(1);
  return p;
}

int one_of_two_bad(int c) {
  char *a = must_allocate(4);
  char *b = must_allocate((size_t)c); // LEAK D001
  a[0] = b[0] = 1;
  free(a);
  return 0;
}

static int make(char **out) {
  *out = malloc(5);
  return *out ? 0 : -1;
}

int out_parameter_bad(int c) {
  char *p;
  if (make(&p)) // LEAK D002
    return 1;
  if (c > 3)
    return 2;
  free(p);
  return 0;
}

int out_parameter_ok(int c) {
  char *p;
  // Freed on every path, whatever it holds.
  make(&p);
  if (c > 3) {
    free(p);
    return 2;
  }
  free(p);
  return 0;
}
