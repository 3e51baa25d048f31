/* Pointers that are passed as numbers: whoever can keep a number keeps the block; whoever only compares it does not. */
#include <stdint.h>
#include <stdlib.h>

typedef uintptr_t key;

struct node {
  key name, value;
  struct node *next;
};

struct tree {
  struct node *root;
  int (*compare)(key, key);
  void (*release)(key);
  void *(*allocate)(size_t);
};

static void insert(struct tree *tree, key name, key value) {
  if (tree->root && tree->compare(tree->root->name, name) == 0) {
    if (tree->release)
      tree->release(tree->root->name);
    tree->root->name = name;
    tree->root->value = value;
    return;
  }
  struct node *node = tree->allocate(sizeof *node);
  node->name = name;
  node->value = value;
  node->next = tree->root;
  tree->root = node;
}

static int before(key a, key b) {
  return a < b;
}

int kept_ok(struct tree *tree) {
  char *name = malloc(10);
  if (!name)
    return -1;
  insert(tree, (key)name, 5);
  return 0;
}

int compared_bad(char *other) {
  char *name = malloc(10); // LEAK
  if (!name)
    return -1;
  return before((key)name, (key)other); // LOST
}
