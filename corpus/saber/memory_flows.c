// Strong updates, globals, null tests and structures that nobody frees.
#include <stdlib.h>

int overwritten_bad(void) {
  char *x;
  char **place = &x;
  char *first = malloc(5); // LEAK D001
  *place = first;
  char *second = malloc(5);
  *place = second;
  free(*place);
  return 0;
}

char *kept;

int global_ok(void) {
  kept = malloc(5);
  return 0;
}

int null_test_ok(void) {
  char *p = malloc(5);
  if (p == NULL)
    return 1;
  p[0] = 1;
  free(p);
  return 0;
}

struct table {
  void *entry;
};

struct node {
  void *key;
};

struct table all;

static int insert(struct table *table, void *key) {
  struct node *node = malloc(sizeof *node);
  if (!node)
    return -1;
  node->key = key;
  table->entry = node;
  return 0;
}

// Only what flows into a global variable directly is taken not to leak (assumption 1).
void inserted_bad(void) {
  char *entry = malloc(9); // LEAK D001
  if (!entry)
    return;
  insert(&all, entry);
}
