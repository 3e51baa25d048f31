// Rings: the head is no node of its own, and the walk ends where it began.
#include <stdlib.h>
#include <string.h>

struct link {
  struct link *next, *prev;
};

struct item {
  struct link link;
  char *text;
};

static void ring_init(struct link *head) {
  head->next = head->prev = head;
}

static void ring_append(struct link *head, struct link *node) {
  node->next = head;
  node->prev = head->prev;
  head->prev->next = node;
  head->prev = node;
}

static void ring_clear(struct link *head) {
  struct link *at = head->next;
  while (at != head) {
    struct item *item = (struct item *)at;
    at = at->next;
    free(item);
  }
}

static int ring_length(struct link *head) {
  int n = 0;
  for (struct link *at = head->next; at != head; at = at->next)
    n++;
  return n;
}

int cleared_ok(void) {
  struct link head;
  ring_init(&head);
  struct item *item = malloc(sizeof *item);
  if (!item)
    return -1;
  ring_append(&head, &item->link);
  ring_clear(&head);
  return 0;
}

int counted_bad(void) {
  struct link head;
  ring_init(&head);
  struct item *item = malloc(sizeof *item); // LEAK
  if (!item)
    return -1;
  ring_append(&head, &item->link);
  return ring_length(&head);
}

int two_ok(void) {
  struct link head;
  ring_init(&head);
  struct item *a = malloc(sizeof *a);
  if (!a)
    return -1;
  ring_append(&head, &a->link);
  struct item *b = malloc(sizeof *b);
  if (b)
    ring_append(&head, &b->link);
  ring_clear(&head);
  return 0;
}

int returns_early_bad(int n) {
  struct link head;
  ring_init(&head);
  struct item *item = malloc(sizeof *item); // LEAK
  if (!item)
    return -1;
  ring_append(&head, &item->link);
  if (n > ring_length(&head))
    return -2;
  ring_clear(&head);
  return 0;
}

int returns_late_ok(int n) {
  struct link head;
  ring_init(&head);
  struct item *item = malloc(sizeof *item);
  if (!item)
    return -1;
  ring_append(&head, &item->link);
  int result = n > ring_length(&head) ? -2 : 0;
  ring_clear(&head);
  return result;
}
