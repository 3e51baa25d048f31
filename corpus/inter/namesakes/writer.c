#include <stdlib.h>
#include <string.h>

struct state {
  int mode;
  char *text, *name;
};

struct state *writer_new(const char *s) {
  struct state *w = calloc(1, sizeof(*w));
  if (!w)
    return NULL;
  w->text = strdup(s);
  w->name = strdup(s);
  return w;
}

void writer_free(struct state *w) {
  free(w->text);
  free(w->name);
  free(w);
}
