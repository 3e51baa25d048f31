/* The project's own function that never returns, and one that only looks like it. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static void die(const char *fmt, ...) __attribute__((noreturn, format(printf, 1, 2)));
static void die(const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  vfprintf(stderr, fmt, ap);
  va_end(ap);
  exit(128);
}

static void complain(const char *what) {
  fprintf(stderr, "%s\n", what);
}

_Noreturn void usage(int status);

int open_pack_bad(int version) {
  char *idx = malloc(1032); // LEAK
  if (!idx)
    die("out of memory: %d", version);
  if (version != 2) {
    complain("unsupported pack version");
    return -1;
  }
  free(idx);
  return 0;
}

int open_pack_ok(int version) {
  char *idx = malloc(1032);
  if (!idx)
    die("out of memory: %d", version);
  if (version != 2)
    die("unsupported pack version %d", version);
  free(idx);
  return 0;
}

int declared_noreturn_bad(int c) {
  int *flags = calloc(8, sizeof *flags); // LEAK
  if (flags && c == '?') {
    complain("usage");
    return 2;
  }
  free(flags);
  return 0;
}

int declared_noreturn_ok(int c) {
  int *flags = calloc(8, sizeof *flags);
  if (flags && c == '?')
    usage(2);
  free(flags);
  return 0;
}

int trap_bad(unsigned kind) {
  void *blk = malloc(24); // LEAK
  switch (kind) {
  case 0:
  case 1:
    free(blk);
    return 1;
  default:
    return 0;
  }
}

int trap_ok(unsigned kind) {
  void *blk = malloc(24);
  switch (kind) {
  case 0:
  case 1:
    free(blk);
    return 1;
  default:
    __builtin_trap();
  }
}
