/* A program may have a destructor by a name that some library has for its `free`: it means what its body does. */
#include <stdlib.h>

struct graph {
  int n;
  int *edges;
};

static struct graph *make(int n) {
  struct graph *g = malloc(sizeof *g);
  if (!g)
    return NULL;
  g->n = n;
  g->edges = calloc(n, sizeof *g->edges);
  return g;
}

void g_free(struct graph *g) {
  free(g->edges);
  free(g);
}

void freeifaddrs(struct graph *g) { g->n = 0; }

int whole_ok(int n) {
  struct graph *g = make(n);
  if (!g)
    return -1;
  g_free(g);
  return 0;
}

int emptied_bad(int n) {
  struct graph *g = make(n); // LEAK
  if (!g)
    return -1;
  freeifaddrs(g);
  return 0;
}
