/* asprintf and vasprintf. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

int greet_bad(const char *name) {
  char *msg;
  if (asprintf(&msg, "hello %s", name) < 0) // LEAK
    return -1;
  puts(msg);
  return 0;
}

int greet_ok(const char *name) {
  char *msg;
  if (asprintf(&msg, "hello %s", name) < 0)
    return -1;
  puts(msg);
  free(msg);
  return 0;
}

int rename_tmp_bad(const char *dir, int pid) {
  char *from = NULL, *to = NULL;
  if (asprintf(&from, "%s/tmp.%d", dir, pid) == -1) // LEAK
    return -1;
  if (asprintf(&to, "%s/final", dir) == -1)
    return -1;
  int rc = rename(from, to);
  free(from);
  free(to);
  return rc;
}

int rename_tmp_ok(const char *dir, int pid) {
  char *from = NULL, *to = NULL;
  if (asprintf(&from, "%s/tmp.%d", dir, pid) == -1)
    return -1;
  if (asprintf(&to, "%s/final", dir) == -1) {
    free(from);
    return -1;
  }
  int rc = rename(from, to);
  free(from);
  free(to);
  return rc;
}

void warn_line_bad(const char *fmt, ...) {
  va_list ap;
  char *text = NULL;
  va_start(ap, fmt);
  int n = vasprintf(&text, fmt, ap); // LEAK
  va_end(ap);
  if (n >= 0)
    fputs(text, stderr);
}

void warn_line_ok(const char *fmt, ...) {
  va_list ap;
  char *text = NULL;
  va_start(ap, fmt);
  int n = vasprintf(&text, fmt, ap);
  va_end(ap);
  if (n >= 0) {
    fputs(text, stderr);
    free(text);
  }
}
