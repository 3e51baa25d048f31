// The same offset in two structures: a call through the one does not reach what was stored in the other.
#include <stdlib.h>
#include <string.h>

struct maker {
  int kind;
  char *(*get)(const char *);
};

struct reader {
  int kind;
  char *(*get)(const char *);
};

static char *copy_of(const char *s) { return strdup(s); }
static char *part_of(const char *s) { return strchr(s, '/'); }

void set_up(struct maker *m, struct reader *r) {
  m->get = copy_of;
  r->get = part_of;
}

size_t read_ok(struct reader *r, const char *s) {
  char *part = r->get(s);
  return part ? strlen(part) : 0;
}

size_t make_bad(struct maker *m, const char *s) {
  char *copy = m->get(s); // LEAK
  return copy ? strlen(copy) : 0;
}
