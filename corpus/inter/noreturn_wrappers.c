/* Functions that never return only because of what they call. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static void vreport(const char *prefix, const char *fmt, va_list ap) {
  fputs(prefix, stderr);
  vfprintf(stderr, fmt, ap);
}

void fatal(const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  vreport("fatal: ", fmt, ap);
  va_end(ap);
  exit(1);
}

void error(const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  vreport("error: ", fmt, ap);
  va_end(ap);
}

static void bug(int line) {
  fatal("bug at %d\n", line);
}

static void quit_or_report(int hard, int code) {
  if (hard)
    exit(code);
  error("code %d\n", code);
}

int reported_bad(int n) {
  char *p = malloc(10); // LEAK
  if (n < 0) {
    error("negative: %d\n", n);
    return -1;
  }
  free(p);
  return 0;
}

int reported_ok(int n) {
  char *p = malloc(10);
  if (n < 0) {
    fatal("negative: %d\n", n);
    return -1;
  }
  free(p);
  return 0;
}

int two_levels_bad(int state) {
  int *s = malloc(sizeof *s); // LEAK
  switch (state) {
  case 0:
    free(s);
    return 0;
  case 1:
    free(s);
    return 1;
  default:
    error("state %d\n", state);
  }
  return -1;
}

int two_levels_ok(int state) {
  int *s = malloc(sizeof *s);
  switch (state) {
  case 0:
    free(s);
    return 0;
  case 1:
    free(s);
    return 1;
  default:
    bug(__LINE__);
  }
  return -1;
}

int by_argument_bad(int n) {
  char *p = malloc(10); // LEAK
  if (n > 64) {
    quit_or_report(0, n);
    return -1;
  }
  free(p);
  return 0;
}

int by_argument_ok(int n) {
  char *p = malloc(10);
  if (n > 64) {
    quit_or_report(1, n);
    return -1;
  }
  free(p);
  return 0;
}
