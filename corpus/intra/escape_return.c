/* The result of the function holds the block; a value computed from it does not. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct span {
  char *start;
  size_t len;
};

struct blob {
  char *base;
  size_t len, cap;
  int kind;
};

char *lowered_bad(const char *s) {
  char *p = strdup(s); // LEAK
  if (!p)
    return NULL;
  if (*p >= 'A' && *p <= 'Z')
    *p += 32;
  return *p ? p : NULL;
}

char *lowered_ok(const char *s) {
  char *p = strdup(s);
  if (!p)
    return NULL;
  if (*p >= 'A' && *p <= 'Z')
    *p += 32;
  return p;
}

char *interior_result_bad(const char *s) {
  char *p = malloc(strlen(s) + 9); // LEAK
  if (!p)
    return NULL;
  char *body = p + 8;
  strcpy(body, s);
  return body[0] ? body : (char *)s;
}

char *interior_result_ok(const char *s) {
  char *p = malloc(strlen(s) + 9);
  if (!p)
    return NULL;
  char *body = p + 8;
  strcpy(body, s);
  return body;
}

struct span by_value_bad(size_t n) {
  struct span r = {malloc(n), n}; // LEAK
  if (n > 100) {
    r.start = NULL;
    r.len = 0;
  }
  return r;
}

struct span by_value_ok(size_t n) {
  struct span r = {malloc(n), n};
  if (n > 100) {
    free(r.start);
    r.start = NULL;
    r.len = 0;
  }
  return r;
}

struct blob by_value_large_bad(size_t n) {
  struct blob b = {0};
  struct blob tmp = {malloc(n), n, n, 1}; // LEAK
  if (tmp.base && n < 50)
    b = tmp;
  return b;
}

struct blob by_value_large_ok(size_t n) {
  struct blob b = {0};
  struct blob tmp = {malloc(n), n, n, 1};
  if (tmp.base && n < 50)
    b = tmp;
  else
    free(tmp.base);
  return b;
}
