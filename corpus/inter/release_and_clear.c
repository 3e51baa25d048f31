/* Deallocators that take the address of the pointer, and macros over them. */
#include <stdlib.h>
#include <string.h>

void freep(void *pp) {
  void **p = pp;
  free(*p);
  *p = NULL;
}

static void free_many(char **a, char **b) {
  freep(a);
  if (b)
    freep(b);
}

#define RELEASE(p)                                                                                                     \
  do {                                                                                                                 \
    free(p);                                                                                                           \
    (p) = NULL;                                                                                                        \
  } while (0)

int by_address_bad(const char *s) {
  char *left = strdup(s);
  char *right = strdup(s); // LEAK
  freep(&left);
  freep(&left);
  return right != NULL;
}

int by_address_ok(const char *s) {
  char *left = strdup(s);
  char *right = strdup(s);
  freep(&left);
  freep(&right);
  return left == right;
}

int optional_second_bad(const char *s) {
  char *x = strdup(s);
  char *y = strdup(s); // LEAK
  int same = x && y && x[0] == y[0];
  free_many(&x, NULL);
  return same;
}

int optional_second_ok(const char *s) {
  char *x = strdup(s);
  char *y = strdup(s);
  int same = x && y && x[0] == y[0];
  free_many(&x, &y);
  return same;
}

int macro_bad(const char *s, int n) {
  char *t = strdup(s); // LEAK
  if (!t)
    return -1;
  if (n == 1)
    RELEASE(t);
  return n;
}

int macro_ok(const char *s, int n) {
  char *t = strdup(s);
  if (!t)
    return -1;
  if (n == 1)
    RELEASE(t);
  RELEASE(t);
  return n;
}
