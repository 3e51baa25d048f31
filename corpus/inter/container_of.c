/* Embedded links: the list sees only a member of the block. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define container_of(ptr, type, member) ((type *)((char *)(ptr)-offsetof(type, member)))

struct list_head {
  struct list_head *next, *prev;
};

struct timer {
  long when;
  struct list_head link;
  void (*fn)(int);
};

static struct list_head timers = {&timers, &timers};

static void list_add(struct list_head *n, struct list_head *h) {
  n->next = h->next;
  n->prev = h;
  h->next->prev = n;
  h->next = n;
}

static struct list_head *timer_link_new(long when) {
  struct timer *t = malloc(sizeof *t);
  if (!t)
    return NULL;
  t->when = when;
  t->fn = NULL;
  t->link.next = t->link.prev = &t->link;
  return &t->link;
}

static void timer_link_free(struct list_head *l) {
  free(container_of(l, struct timer, link));
}

int armed_bad(long when) {
  struct timer *t = calloc(1, sizeof *t); // LEAK
  if (!t)
    return -1;
  t->when = when;
  if (when <= 0)
    return 0;
  list_add(&t->link, &timers);
  return 1;
}

int armed_ok(long when) {
  struct timer *t = calloc(1, sizeof *t);
  if (!t)
    return -1;
  t->when = when;
  if (when <= 0) {
    timer_link_free(&t->link);
    return 0;
  }
  list_add(&t->link, &timers);
  return 1;
}

long peek_when_bad(long w) {
  struct list_head *l = timer_link_new(w); // LEAK
  if (!l)
    return -1;
  return container_of(l, struct timer, link)->when;
}

long peek_when_ok(long w) {
  struct list_head *l = timer_link_new(w);
  if (!l)
    return -1;
  w = container_of(l, struct timer, link)->when;
  timer_link_free(l);
  return w;
}
