/* Loops and recursion that release a whole structure. */
#include <stdlib.h>
#include <string.h>

struct item {
  struct item *next;
  int v;
};

struct tree {
  struct tree *l, *r;
  int key;
};

static struct item *list_push(struct item *head, int v) {
  struct item *n = malloc(sizeof *n);
  if (!n)
    return head;
  n->v = v;
  n->next = head;
  return n;
}

static void list_free(struct item *head) {
  while (head) {
    struct item *dead = head;
    head = head->next;
    free(dead);
  }
}

static struct tree *leaf(int k) {
  struct tree *t = calloc(1, sizeof *t);
  if (t)
    t->key = k;
  return t;
}

static void tree_free(struct tree *t) {
  if (!t)
    return;
  tree_free(t->l);
  tree_free(t->r);
  free(t);
}

static void strv_free(char **v) {
  if (!v)
    return;
  for (char **p = v; *p; p++)
    free(*p);
  free(v);
}

static char **strv_pair(const char *a, const char *b) {
  char **v = calloc(3, sizeof *v);
  if (!v)
    return NULL;
  v[0] = strdup(a);
  if (v[0])
    v[1] = strdup(b);
  return v;
}

int pushed_bad(int n) {
  struct item *l = NULL;
  l = list_push(l, n); // LEAK
  if (!l)
    return -1;
  return l->v;
}

int pushed_ok(int n) {
  struct item *l = NULL;
  l = list_push(l, n);
  if (!l)
    return -1;
  n = l->v;
  list_free(l);
  return n;
}

int many_bad(int n) {
  struct item *l = NULL;
  for (int i = 0; i < n; i++)
    l = list_push(l, i); // LEAK
  free(l);
  return n;
}

int many_ok(int n) {
  struct item *l = NULL;
  for (int i = 0; i < n; i++)
    l = list_push(l, i);
  list_free(l);
  return n;
}

int branch_bad(int k) {
  struct tree *root = leaf(k);
  if (!root)
    return -1;
  root->l = leaf(k - 1);
  root->r = leaf(k + 1); // LEAK
  tree_free(root->l);
  free(root);
  return 0;
}

int branch_ok(int k) {
  struct tree *root = leaf(k);
  if (!root)
    return -1;
  root->l = leaf(k - 1);
  root->r = leaf(k + 1);
  tree_free(root);
  return 0;
}

int words_bad(const char *a) {
  char **v = strv_pair(a, "x"); // LEAK x2
  if (!v)
    return -1;
  free(v); // LOST
  return 0;
}

int words_ok(const char *a) {
  char **v = strv_pair(a, "x");
  if (!v)
    return -1;
  strv_free(v);
  return 0;
}
