/* What a function does that calls what it is given depends on what the caller names. */
#include <stdlib.h>

struct context {
  char *buffer;
};

typedef void (*visit)(int, void *);

static void each(int n, visit call, void *data) {
  for (int i = 0; i < n; i++)
    call(i, data);
}

static void each_of(int n, visit call, void *data) { each(n, call, data); }

static void use(int i, void *data) {
  struct context *c = data;
  c->buffer[0] = i;
}

static void release(int i, void *data) {
  struct context *c = data;
  free(c->buffer);
  c->buffer = NULL;
}

static void make(int i, void *data) {
  struct context *c = data;
  if (!c->buffer)
    c->buffer = malloc(i + 1);
}

void used_bad(int n) {
  struct context c;
  c.buffer = malloc(3); // LEAK
  if (!c.buffer)
    return;
  each(n, use, &c);
}

void used_ok(int n) {
  struct context c;
  c.buffer = malloc(3);
  if (!c.buffer)
    return;
  each(n, use, &c);
  free(c.buffer);
}

void released_ok(void) {
  struct context c;
  c.buffer = malloc(3);
  each_of(1, release, &c);
}

void handed_on_bad(int n) {
  struct context c;
  c.buffer = malloc(3); // LEAK
  if (!c.buffer)
    return;
  each_of(n, use, &c);
}

void made_ok(int n) {
  struct context c = {NULL};
  each(n, make, &c);
  free(c.buffer);
}
