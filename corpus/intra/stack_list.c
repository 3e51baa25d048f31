// Nodes on the stack: `alloca` in a loop makes one more in each turn, a variable has one place.
#include <alloca.h>
#include <stdlib.h>
#include <string.h>

struct node {
  struct node *next;
  char *name;
};

int nodes_ok(char **names, int n) {
  struct node *all = NULL;
  int used = 0;
  for (int i = 0; i < n; i++) {
    struct node *node = alloca(sizeof *node);
    node->name = strdup(names[i]);
    node->next = all;
    all = node;
    used += node->name != NULL;
  }
  for (; all; all = all->next)
    free(all->name);
  return used;
}

int node_bad(char **names, int n) {
  struct node node = {0};
  int used = 0;
  for (int i = 0; i < n; i++) {
    node.name = strdup(names[i]); // LEAK
    used += node.name != NULL;
  }
  free(node.name);
  return used;
}
