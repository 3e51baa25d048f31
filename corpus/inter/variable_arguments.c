// Arguments behind the named ones: freed, kept or only read.
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *join(char *a, char *b) {
  char *r = malloc(strlen(a) + strlen(b) + 1);
  if (!r)
    abort();
  strcpy(r, a);
  strcat(r, b);
  free(a);
  free(b);
  return r;
}

// Frees all that it is given.
static char *join_all(int count, ...) {
  va_list list;
  va_start(list, count);
  char *r = va_arg(list, char *);
  for (int i = 1; i < count; i++)
    r = join(r, va_arg(list, char *));
  va_end(list);
  return r;
}

char *joined_ok(int n) {
  char *result = strdup("");
  for (; n > 0; n--)
    result = join_all(3, result, strdup("$1"), strdup(" , "));
  return result;
}

struct entry {
  char *name;
};

static void set_name(struct entry *e, const char *name) { e->name = strdup(name); }

void result_bad(struct entry *e) {
  set_name(e, join_all(2, strdup("("), strdup(")"))); // LEAK
}

// Only reads.
static size_t length_of_all(int count, ...) {
  size_t length = 0;
  va_list list;
  va_start(list, count);
  for (int i = 0; i < count; i++)
    length += strlen(va_arg(list, char *));
  va_end(list);
  return length;
}

size_t read_bad(const char *s) {
  char *copy = strdup(s); // LEAK
  return length_of_all(1, copy);
}

size_t read_ok(const char *s) {
  char *copy = strdup(s);
  size_t length = length_of_all(1, copy);
  free(copy);
  return length;
}

static void report(const char *format, ...) {
  va_list list;
  va_start(list, format);
  vfprintf(stderr, format, list);
  va_end(list);
}

void reported_bad(const char *s) {
  char *copy = strdup(s); // LEAK
  report("%s\n", copy);
}
