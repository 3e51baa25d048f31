/* A pointer that is printed as a number is still nobody else's. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void report(const char *format, ...) {
  va_list args;
  va_start(args, format);
  vfprintf(stderr, format, args);
  va_end(args);
}

void sized_bad(int n) {
  char *block = malloc(n); // LEAK
  if (!block)
    return;
  report("block %lx of %d\n", (long)block, n);
}

void sized_ok(int n) {
  char *block = malloc(n);
  if (!block)
    return;
  report("block %lx of %d\n", (long)block, n);
  free(block);
}
