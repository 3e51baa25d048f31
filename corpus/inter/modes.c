// A mode says whose the result is: callers pass a constant, and the function has more ways than are told apart.
#include <stdlib.h>
#include <string.h>

enum mode { GROW, ARENA, STATIC, COPY, MAKE, KEEP, ARENA_COPY, ARENA_GROW };

char *from_arena(size_t n);

static char *from_heap(size_t n) {
  char *p = malloc(n);
  if (!p)
    abort();
  return p;
}

// Calls itself: what it does is known by its summary alone.
static char *quoted(char *text, int length, enum mode mode) {
  static char buffer[256];
  int quotes = 0;
  char *t, *p, *e;
  if (length == -1)
    return quoted(text, (int)strlen(text), mode);
  for (e = text; e < text + length;)
    if (*e++ == '\'')
      quotes++;
  if (quotes || mode == COPY || mode == ARENA_COPY) {
    switch (mode) {
    case GROW:
      text = realloc(text, length + quotes + 1);
      if (!text)
        abort();
      break;
    case ARENA_GROW:
      text = memcpy(from_arena(length + quotes + 1), text, length);
      break;
    case MAKE:
    case COPY:
      text = memcpy(from_heap(length + quotes + 1), text, length);
      break;
    case ARENA:
    case ARENA_COPY:
      text = memcpy(from_arena(length + quotes + 1), text, length);
      break;
    case STATIC:
      text = memcpy(buffer, text, length);
      break;
    case KEEP:
      break;
    }
    p = text + length;
    e = t = text + length + quotes;
    while (quotes) {
      if ((*--t = *--p) == '\'') {
        *--t = '\\';
        quotes--;
      }
    }
  }
  *e = '\0';
  return text;
}

size_t arena_ok(char *s) { return strlen(quoted(s, -1, ARENA)); }

size_t static_ok(char *s) { return strlen(quoted(s, -1, STATIC)); }

size_t arena_copy_ok(char *s) { return strlen(quoted(s, -1, ARENA_COPY)); }

size_t copy_ok(char *s) {
  char *q = quoted(s, -1, COPY);
  size_t length = strlen(q);
  free(q);
  return length;
}

size_t copy_bad(char *s) {
  return strlen(quoted(s, -1, COPY)); // LEAK
}
