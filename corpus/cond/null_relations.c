/* One null test speaks for another pointer. */
#include <stdlib.h>
#include <string.h>

int second_needs_first_bad(const char *s) {
  char *a = strdup(s); // LEAK
  char *b = a ? strdup(s) : NULL;
  if (b) {
    free(a);
    free(b);
    return 0;
  }
  return -1;
}

int second_needs_first_ok(const char *s) {
  char *a = strdup(s);
  char *b = a ? strdup(s) : NULL;
  if (b)
    free(b);
  if (a)
    free(a);
  return b ? 0 : -1;
}

int parallel_bad(const char *k, const char *v) {
  char *a = k ? strdup(k) : NULL;
  char *b = k ? strdup("b") : NULL; // LEAK
  if (k)
    free(a);
  if (v)
    free(b);
  return 0;
}

int parallel_ok(const char *k, const char *v) {
  char *a = k ? strdup(k) : NULL;
  char *b = v ? strdup("b") : NULL;
  if (k)
    free(a);
  if (v)
    free(b);
  return 0;
}

int alias_test_bad(size_t n) {
  char *p = malloc(n); // LEAK
  char *q = p;
  if (q != NULL && n < 100)
    free(p);
  return 0;
}

int alias_test_ok(size_t n) {
  char *p = malloc(n);
  char *q = p;
  if (q != NULL)
    free(p);
  return 0;
}

int two_pointers_equal_bad(size_t n, int same) {
  char *p = malloc(n);
  char *q = same ? p : malloc(n); // LEAK
  if (p == q)
    free(q);
  else
    free(p);
  return same;
}

int two_pointers_equal_ok(size_t n, int same) {
  char *p = malloc(n);
  char *q = same ? p : malloc(n);
  if (p != q)
    free(q);
  free(p);
  return same;
}

int size_or_null_bad(const char *s) {
  size_t n = s ? strlen(s) : 0;
  char *p = NULL;
  if (n)
    p = malloc(n); // LEAK
  if (n > 1)
    free(p);
  return p != NULL;
}

int size_or_null_ok(const char *s) {
  size_t n = s ? strlen(s) : 0;
  char *p = NULL;
  if (n)
    p = malloc(n);
  if (s)
    free(p);
  return 0;
}

int range_of_buffer_bad(int big) {
  char buf[32], *p = buf + 4;
  if (big)
    p = malloc(64); // LEAK
  if (!p)
    return -1;
  p[0] = 0;
  if (p == buf)
    free(p);
  return 0;
}

int range_of_buffer_ok(int big) {
  char buf[32], *p = buf + 4;
  if (big)
    p = malloc(64);
  if (!p)
    return -1;
  p[0] = 0;
  if (p != buf + 4)
    free(p);
  return 0;
}
