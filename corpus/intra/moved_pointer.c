/* The pointer moves along a structure and leaves a node behind. */
#include <stdlib.h>

struct node {
  struct node *next;
  int v;
};

int walk_bad(int v) {
  struct node *n = malloc(sizeof *n); // LEAK
  if (!n)
    return -1;
  n->v = v;
  n->next = malloc(sizeof *n);
  n = n->next; // LOST
  free(n);
  return 0;
}

int walk_ok(int v) {
  struct node *n = malloc(sizeof *n);
  if (!n)
    return -1;
  n->v = v;
  n->next = malloc(sizeof *n);
  struct node *second = n->next;
  free(n);
  free(second);
  return 0;
}

int prepend_bad(void) {
  struct node *head = malloc(sizeof *head); // LEAK
  if (!head)
    return -1;
  head->next = NULL;
  struct node *first = malloc(sizeof *first);
  if (!first) {
    free(head);
    return -1;
  }
  first->next = NULL;
  head = first; // LOST
  free(head);
  return 0;
}

int prepend_ok(void) {
  struct node *head = malloc(sizeof *head);
  if (!head)
    return -1;
  head->next = NULL;
  struct node *first = malloc(sizeof *first);
  if (!first) {
    free(head);
    return -1;
  }
  first->next = head;
  head = first;
  free(head->next);
  free(head);
  return 0;
}
