// A pointer that a function compares with another one is not kept by it: only what other ways through the function do to the block,
// or to what it holds, may have been done where the two are equal.
#include <stdlib.h>
#include <string.h>

const char *const UNSET = "unset";
static const char *last;

static char *copy_text(const void *text, size_t n) {
  char *s = malloc(n + 1);
  if (!s)
    return NULL;
  if (text == UNSET)
    text = NULL;
  else if (!text)
    memset(s, 0, n + 1);
  if (n && text)
    memcpy(s, text, n);
  s[n] = 0;
  return s;
}

int copied_bad(const char *name) {
  char *own = strdup(name); // LEAK
  if (!own)
    return -1;
  char *copy = copy_text(own, strlen(own));
  free(copy);
  return 0;
}

int copied_ok(const char *name) {
  char *own = strdup(name);
  if (!own)
    return -1;
  char *copy = copy_text(own, strlen(own));
  free(copy);
  free(own);
  return 0;
}

int is_last(const char *text) { return text == last; }
void remember(const char *text) { last = text; }

int asked_bad(const char *name) {
  char *own = strdup(name); // LEAK
  if (!own)
    return -1;
  return is_last(own);
}

// What other ways free is the function's own business where the pointers are equal.
static struct node { struct node *next; char *name; } nobody;

static void drop(struct node *node) {
  if (node == &nobody || node == NULL)
    return;
  free(node->name);
  free(node);
}

int dropped_ok(const char *name) {
  struct node *node = calloc(1, sizeof *node);
  if (!node)
    return -1;
  node->name = strdup(name);
  drop(node);
  return 0;
}

static void clear(struct node *node, struct node *shared) {
  if (node == shared)
    return;
  free(node->name);
  node->name = NULL;
}

int cleared_ok(const char *name, struct node *shared) {
  struct node node = {0};
  node.name = strdup(name);
  clear(&node, shared);
  return 0;
}

int kept_at_home_bad(const char *name, struct node *shared) {
  struct node *node = calloc(1, sizeof *node); // LEAK
  if (!node)
    return -1;
  node->name = strdup(name);
  clear(node, shared);
  return 0;
}
