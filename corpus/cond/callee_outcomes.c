/* What the callee did is known from what it returned, or from what it was given. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static int make(char **o, int n) {
  if (n < 0)
    return -1;
  if (n == 0)
    return 1;
  char *t = malloc((size_t)n);
  if (!t)
    return -2;
  *o = t;
  return 0;
}

static char *positive_only(int n) {
  return n > 0 ? malloc((size_t)n) : NULL;
}

static bool load(const char *s, char **val, int *err) {
  *err = 0;
  *val = strdup(s);
  if (!*val) {
    *err = 12;
    return false;
  }
  if (**val == '\0') {
    free(*val);
    *err = 22;
    return false;
  }
  return true;
}

static void release_if(char *p, int really) {
  if (really)
    free(p);
}

int code_tested_twice_bad(int n) {
  char *p = NULL;
  int r = make(&p, n); // LEAK
  if (r < 0)
    return -1;
  if (r > 0)
    free(p);
  return 0;
}

int code_tested_twice_ok(int n) {
  char *p = NULL;
  int r = make(&p, n);
  if (r < 0)
    return -1;
  if (r == 0)
    free(p);
  return 0;
}

int argument_decides_bad(int n) {
  char *p = positive_only(n); // LEAK
  if (n > 1)
    free(p);
  return n;
}

int argument_decides_ok(int n) {
  char *p = positive_only(n);
  if (n >= 1)
    free(p);
  return n;
}

int second_out_parameter_bad(const char *s) {
  char *v;
  int err;
  load(s, &v, &err); // LEAK
  if (err == 22)
    return -1;
  if (err)
    free(v);
  return 0;
}

int second_out_parameter_ok(const char *s) {
  char *v;
  int err;
  load(s, &v, &err);
  if (err == 22)
    return -1;
  if (!err)
    free(v);
  return 0;
}

int conditional_release_bad(int a, int b) {
  char *t = malloc(4); // LEAK
  release_if(t, a);
  if (!a && b)
    free(t);
  return 0;
}

int conditional_release_ok(int a, int b) {
  char *t = malloc(4);
  release_if(t, a);
  if (!a)
    free(t);
  return b;
}

int null_by_code_bad(int n) {
  char *p = NULL;
  switch (make(&p, n)) { // LEAK
  case 0:
    return p != NULL;
  case 1:
    free(p);
    return 1;
  default:
    return -1;
  }
}

int null_by_code_ok(int n) {
  char *p = NULL;
  switch (make(&p, n)) {
  case 0:
    free(p);
    return 0;
  case 1:
    return p != NULL;
  default:
    return -1;
  }
}

static void require(int cond) {
  if (!cond)
    exit(2);
}

int required_bad(int n) {
  char *p = malloc(4); // LEAK
  require(n < 100);
  if (n > 64)
    return -1;
  free(p);
  return 0;
}

int required_ok(int n) {
  char *p = malloc(4);
  require(n < 64);
  if (n > 64)
    return -1;
  free(p);
  return 0;
}
