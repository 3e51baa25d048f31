// Reporting an error needs memory, and getting memory can be an error: one recursion that is nobody's business.
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct text {
  size_t alloc, len;
  char *data;
};

static void report(const char *format, ...);

static void *must_realloc(void *old, size_t size) {
  if (size > 1000000)
    report("%zu bytes", size);
  void *new = realloc(old, size);
  if (!new)
    abort();
  return new;
}

static void add(struct text *t, const char *s) {
  size_t n = strlen(s);
  if (t->len + n + 1 > t->alloc) {
    t->alloc = t->len + n + 16;
    t->data = must_realloc(t->data, t->alloc);
  }
  memcpy(t->data + t->len, s, n + 1);
  t->len += n;
}

static void release(struct text *t) {
  free(t->data);
  t->data = NULL;
  t->alloc = t->len = 0;
}

static void report(const char *format, ...) {
  struct text line = {0, 0, NULL};
  add(&line, "error: ");
  add(&line, format);
  fputs(line.data, stderr);
  release(&line);
}

void greet_ok(const char *name) {
  struct text t = {0, 0, NULL};
  add(&t, "hello ");
  add(&t, name);
  puts(t.data);
  release(&t);
}

void greet_bad(const char *name) {
  struct text t = {0, 0, NULL};
  add(&t, "hello "); // LEAK
  puts(t.data);
  puts(name);
}
