/* Lists built and released inside one function. */
#include <stdlib.h>

struct cell {
  int value;
  struct cell *next;
};

int sum_list_bad(int n) {
  struct cell *head = NULL;
  int sum = 0;
  for (int i = 0; i < n; i++) {
    struct cell *c = malloc(sizeof *c); // LEAK
    if (!c)
      break;
    c->value = i;
    c->next = head;
    head = c;
  }
  for (struct cell *c = head; c; c = c->next)
    sum += c->value;
  return sum;
}

int sum_list_ok(int n) {
  struct cell *head = NULL;
  int sum = 0;
  for (int i = 0; i < n; i++) {
    struct cell *c = malloc(sizeof *c);
    if (!c)
      break;
    c->value = i;
    c->next = head;
    head = c;
  }
  while (head) {
    struct cell *next = head->next;
    sum += head->value;
    free(head);
    head = next;
  }
  return sum;
}

int head_only_bad(int n) {
  struct cell *head = NULL;
  while (n-- > 0) {
    struct cell *c = malloc(sizeof *c); // LEAK
    if (!c)
      break;
    c->next = head;
    head = c;
  }
  free(head);
  return 0;
}

int head_only_ok(int n) {
  struct cell *head = NULL;
  while (n-- > 0) {
    struct cell *c = malloc(sizeof *c);
    if (!c)
      break;
    c->next = head;
    head = c;
  }
  for (struct cell *c = head, *next; c; c = next) {
    next = c->next;
    free(c);
  }
  return 0;
}

int link_forgotten_bad(int n) {
  struct cell *head = NULL;
  for (int i = 0; i < n; i++) {
    struct cell *c = calloc(1, sizeof *c); // LEAK
    if (!c)
      break;
    head = c; // LOST
  }
  free(head);
  return 0;
}

int link_forgotten_ok(int n) {
  struct cell *head = NULL;
  for (int i = 0; i < n; i++) {
    struct cell *c = calloc(1, sizeof *c);
    if (!c)
      break;
    c->next = head;
    head = c;
  }
  while (head) {
    struct cell *c = head;
    head = head->next;
    free(c);
  }
  return 0;
}
