/* A buffer that got some text is not empty. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct text {
  char *bytes;
  size_t length;
};

static void append(struct text *text, const char *more) {
  size_t n = strlen(more);
  char *bytes = realloc(text->bytes, text->length + n + 1);
  if (!bytes)
    abort();
  memcpy(bytes + text->length, more, n + 1);
  text->bytes = bytes;
  text->length += n;
}

static void append_format(struct text *text, const char *format, ...) {
  char line[80];
  va_list list;
  va_start(list, format);
  vsnprintf(line, sizeof line, format, list);
  va_end(list);
  append(text, line);
}

void constant_ok(int atomic) {
  struct text text = {NULL, 0};
  if (atomic)
    append(&text, " atomic");
  if (text.length) {
    puts(text.bytes);
    free(text.bytes);
  }
}

void perhaps_empty_bad(const char *name) {
  struct text text = {NULL, 0};
  append(&text, name); // LEAK
  if (text.length) {
    puts(text.bytes);
    free(text.bytes);
  }
}

void printed_ok(int n) {
  struct text text = {NULL, 0};
  for (int i = 0; i < n; i++)
    append_format(&text, " - %d\n", i);
  if (!text.length)
    return;
  puts(text.bytes);
  free(text.bytes);
}

void printed_and_forgotten_bad(int n) {
  struct text text = {NULL, 0};
  append_format(&text, " - %d\n", n); // LEAK
  if (n < 0)
    return;
  puts(text.bytes);
  free(text.bytes);
}

struct slice {
  char *area;
  size_t size, used;
};

static int fill(struct slice *slice, char *area, size_t size, int used) {
  if (used < 0 || (size && used > size))
    return 0;
  slice->area = area;
  slice->size = size;
  slice->used = used;
  return 1;
}

struct slice tag;

/* The length of a text fits into an int and into itself. */
void filled_ok(const char *name) {
  char *copy = strdup(name);
  if (!copy)
    return;
  size_t length = strlen(copy);
  fill(&tag, copy, length, length);
}

void overfilled_bad(const char *name, int used) {
  char *copy = strdup(name); // LEAK
  if (!copy)
    return;
  if (fill(&tag, copy, strlen(copy), used))
    puts("filled");
}
