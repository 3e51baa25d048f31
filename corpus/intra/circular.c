/* Blocks that hold each other in a circle hold nothing. */
#include <stdlib.h>

struct dnode {
  struct dnode *next, *prev;
};

int ring_bad(void) {
  struct dnode *a = malloc(sizeof *a); // LEAK
  if (!a)
    return -1;
  struct dnode *b = malloc(sizeof *b); // LEAK
  if (!b) {
    free(a);
    return -1;
  }
  a->next = a->prev = b;
  b->next = b->prev = a;
  return 0;
}

int ring_ok(void) {
  struct dnode *a = malloc(sizeof *a);
  if (!a)
    return -1;
  struct dnode *b = malloc(sizeof *b);
  if (!b) {
    free(a);
    return -1;
  }
  a->next = a->prev = b;
  b->next = b->prev = a;
  free(a->next);
  free(a);
  return 0;
}

int self_loop_bad(void) {
  struct dnode *n = malloc(sizeof *n); // LEAK
  if (!n)
    return -1;
  n->next = n->prev = n;
  return 0;
}

int self_loop_ok(void) {
  struct dnode *n = malloc(sizeof *n);
  if (!n)
    return -1;
  n->next = n->prev = n;
  free(n->next);
  return 0;
}
