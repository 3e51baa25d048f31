/* `struct state` of this file has nothing to do with that of the other one: what is done there says nothing of this one. */
#include <stdlib.h>
#include <string.h>

struct state {
  char *line_bad, *line_ok;
  int number;
};

struct state *reader_new(const char *s) {
  struct state *r = calloc(1, sizeof(*r));
  if (!r)
    return NULL;
  r->line_bad = strdup(s); // LEAK D004
  r->line_ok = strdup(s);
  return r;
}

/* Forgets a field. */
void reader_free(struct state *r) {
  free(r->line_ok);
  free(r); // LOST
}
