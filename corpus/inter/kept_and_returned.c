/* A constructor that enters what it makes in a table of its owner's and returns it as well: callers only borrow it, also where the table
   could not grow and nobody looked. */
#include <stdlib.h>

struct state {
  int number;
};

struct automaton {
  struct state **states;
  int count, room;
};

static int enter_state(struct automaton *a, struct state *state) {
  if (!state)
    return -1;
  if (a->room == 0) {
    a->states = malloc(4 * sizeof *a->states);
    if (!a->states)
      return -1;
    a->room = 4;
  } else if (a->count >= a->room) {
    struct state **more = realloc(a->states, 2 * a->room * sizeof *more);
    if (!more)
      return -1;
    a->states = more;
    a->room *= 2;
  }
  a->states[a->count++] = state;
  return 0;
}

static struct state *new_state(struct automaton *a) {
  struct state *state = malloc(sizeof *state);
  if (!state)
    return NULL;
  state->number = 0;
  enter_state(a, state);
  return state;
}

static struct state *lone_state(struct automaton *a) {
  struct state *state = malloc(sizeof *state);
  if (!state)
    return NULL;
  state->number = a->count;
  return state;
}

int borrowed_ok(struct automaton *a) {
  struct state *hop = new_state(a);
  if (!hop)
    return -1;
  hop->number = 7;
  return 0;
}

int borrowed_bad(struct automaton *a) {
  struct state *hop = lone_state(a); // LEAK
  if (!hop)
    return -1;
  hop->number = 7;
  return 0;
}
