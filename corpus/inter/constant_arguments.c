// What a call asks for by a constant is what it gets.
#include <stdlib.h>
#include <string.h>

#define PLAIN 1

struct object {
  int type;
  char *text;
};

static void *load(const char *text, int flags) {
  if (flags & PLAIN)
    return strdup(text);
  struct object *o = malloc(sizeof *o);
  if (!o)
    return NULL;
  o->type = 1;
  o->text = strdup(text);
  return o;
}

size_t plain_ok(const char *text) {
  char *s = load(text, PLAIN);
  if (!s)
    return 0;
  size_t length = strlen(s);
  free(s);
  return length;
}

int object_bad(const char *text) {
  struct object *o = load(text, 0); // LEAK
  if (!o)
    return 0;
  int type = o->type;
  free(o); // LOST
  return type;
}

struct buffer {
  size_t alloc, len;
  char *data;
};

extern char nothing[];

static void buffer_init(struct buffer *b, size_t hint) {
  struct buffer blank = {.data = nothing};
  memcpy(b, &blank, sizeof *b);
  if (hint) {
    b->data = malloc(hint);
    if (!b->data)
      abort();
    b->alloc = hint;
  }
}

static void buffer_release(struct buffer *b) {
  if (b->alloc) {
    free(b->data);
    buffer_init(b, 0);
  }
}

void release_twice_ok(void) {
  struct buffer b;
  buffer_init(&b, 10);
  buffer_release(&b);
  buffer_release(&b);
}

void init_twice_bad(void) {
  struct buffer b;
  buffer_init(&b, 10); // LEAK
  buffer_init(&b, 10); // LOST
  buffer_release(&b);
}
