// A stream keeps its state; resetting the stream looks at the state and fills in numbers, but leaves it there.
#include <stdlib.h>

struct stream;

struct state {
  struct stream *stream;
  unsigned char *window;
  unsigned char *next;
  int status;
};

struct stream {
  const char *message;
  unsigned long total;
  struct state *state;
};

static int is_wrong(struct stream *s) {
  if (!s)
    return 1;
  return !s->state || s->state->stream != s || s->state->status < 0;
}

static int reset(struct stream *s) {
  if (is_wrong(s))
    return -2;
  s->total = 0;
  s->message = NULL;
  s->state->next = s->state->window;
  s->state->status = 1;
  return 0;
}

int open_ok(struct stream *s) {
  struct state *state = malloc(sizeof *state);
  if (!state)
    return -1;
  s->state = state;
  state->stream = s;
  state->status = 0;
  state->window = malloc(100);
  if (!state->window) {
    s->state = NULL;
    free(state);
    return -1;
  }
  return reset(s);
}

int open_bad(struct stream *s) {
  struct state *state = malloc(sizeof *state); // LEAK
  if (!state)
    return -1;
  s->state = state;
  state->stream = s;
  state->status = 0;
  state->window = malloc(100);
  if (!state->window) {
    s->state = NULL;
    return -1;
  }
  return reset(s);
}
