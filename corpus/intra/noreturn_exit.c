/* Paths that end the program leak nothing; the same path with a plain return does. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

int with_exit_bad(int argc) {
  char *args = malloc(100); // LEAK
  if (argc > 3) {
    fputs("too many arguments\n", stderr);
    return EXIT_FAILURE;
  }
  free(args);
  return 0;
}

int with_exit_ok(int argc) {
  char *args = malloc(100);
  if (argc > 3) {
    fputs("too many arguments\n", stderr);
    exit(EXIT_FAILURE);
  }
  free(args);
  return 0;
}

void with_abort_bad(int state) {
  int *lock = malloc(sizeof *lock); // LEAK
  if (state < 0)
    perror("state");
  else
    free(lock);
}

void with_abort_ok(int state) {
  int *lock = malloc(sizeof *lock);
  if (state < 0)
    abort();
  else
    free(lock);
}

int with_underscore_exit_bad(int child) {
  char *env = malloc(64); // LEAK
  if (child == 0)
    return 127;
  free(env);
  return child;
}

int with_underscore_exit_ok(int child) {
  char *env = malloc(64);
  if (child == 0)
    _Exit(127);
  free(env);
  return child;
}

int with_assert_bad(int n) {
  char *p = malloc(16); // LEAK
  if (!(n < 10))
    return -1;
  free(p);
  return n;
}

int with_assert_ok(int n) {
  char *p = malloc(16);
  assert(n < 10);
  free(p);
  return n;
}

/* glibc's error() ends the program if its status is not zero. */
void error(int status, int errnum, const char *format, ...);

int checked_ok(int n) {
  char *text = malloc(16);
  if (!text)
    error(EXIT_FAILURE, 0, "out of memory");
  text[0] = (char)n;
  if (n < 0)
    error(2, 0, "negative");
  n = text[0];
  free(text);
  return n;
}

int checked_bad(int n) {
  char *text = malloc(16); // LEAK D002
  if (!text)
    return -1;
  text[0] = (char)n;
  if (n < 0) {
    error(0, 0, "negative");
    return -1;
  }
  n = text[0];
  free(text);
  return n;
}
