// A callee decides by a flag in a bit mask or by a threshold that its caller knows.
#include <stdlib.h>

#define OWNED 4
#define BIG 2

struct buffer {
  unsigned flags;
  char *block;
};

static int buffer_init(struct buffer *b, int big) {
  b->flags = 0;
  b->block = NULL;
  if (big) {
    b->flags |= OWNED;
    b->block = malloc(100);
    if (!b->block)
      return -1;
  }
  return 0;
}

static void buffer_free(struct buffer *b) {
  if (b->flags & OWNED)
    free(b->block);
}

static void buffer_free_by_wrong_flag(struct buffer *b) {
  if (b->flags & BIG)
    free(b->block);
}

void flag_in_structure_ok(int n) {
  struct buffer b;
  if (buffer_init(&b, n))
    return;
  buffer_free(&b);
}

void flag_in_structure_bad(int n) {
  struct buffer b;
  if (buffer_init(&b, n)) // LEAK
    return;
  buffer_free_by_wrong_flag(&b);
}

struct method {
  const char *name;
  unsigned flags;
};

struct context {
  const struct method *method;
  char *extra;
};

static struct context *context_new(const struct method *m) {
  struct context *c = calloc(1, sizeof *c);
  if (!c)
    return NULL;
  c->method = m;
  if (m->flags & BIG) {
    c->extra = malloc(10);
    if (!c->extra) {
      free(c);
      return NULL;
    }
  }
  return c;
}

static void context_free(struct context *c) {
  if (!c)
    return;
  if (c->method->flags & BIG)
    free(c->extra);
  free(c);
}

static void context_free_by_wrong_flag(struct context *c) {
  if (!c)
    return;
  if (!(c->method->flags & BIG))
    free(c->extra);
  free(c);
}

void flag_of_method_ok(const struct method *m) {
  struct context *c = context_new(m);
  if (!c)
    return;
  context_free(c);
}

void flag_of_method_bad(const struct method *m) {
  struct context *c = context_new(m); // LEAK
  if (!c)
    return;
  context_free_by_wrong_flag(c);
}

static void release_below(char *p, int n) {
  if (n < 2)
    free(p);
}

static void release_above(char *p, int n) {
  if (n > 5)
    free(p);
}

void below_ok(void) {
  char *p = malloc(3);
  release_below(p, 1);
}

void below_bad(void) {
  char *p = malloc(3); // LEAK
  release_below(p, 2);
}

void above_ok(void) {
  char *p = malloc(3);
  release_above(p, 7);
}

void above_bad(void) {
  char *p = malloc(3); // LEAK
  release_above(p, 5);
}
