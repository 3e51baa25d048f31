/* Lists that own what their nodes point to: built, walked, freed, taken apart, across calls. */
#include <stdlib.h>
#include <string.h>

struct entry {
  char *text;
  struct entry *next;
};

static struct entry *entry_new(const char *text, struct entry *next) {
  struct entry *e = malloc(sizeof *e);
  if (!e)
    abort();
  e->text = strdup(text);
  e->next = next;
  return e;
}

/* Frees nodes and texts in a loop. */
static void free_all(struct entry *list) {
  while (list) {
    struct entry *next = list->next;
    free(list->text);
    free(list);
    list = next;
  }
}

/* The same, as a loop that tests at its end. */
static void free_all_late(struct entry *list) {
  struct entry *next, *at = list;
  if (!list)
    return;
  do {
    next = at->next;
    free(at->text);
    free(at);
    at = next;
  } while (next);
}

/* The same, by recursion. */
static void free_all_deep(struct entry *list) {
  if (!list)
    return;
  free_all_deep(list->next);
  free(list->text);
  free(list);
}

/* Forgets the texts. */
static void free_nodes(struct entry *list) {
  while (list) {
    struct entry *next = list->next;
    free(list);
    list = next;
  }
}

int by_loop_ok(void) {
  free_all(entry_new("a", entry_new("b", entry_new("c", entry_new("d", NULL)))));
  return 0;
}

int by_late_loop_ok(void) {
  free_all_late(entry_new("a", entry_new("b", NULL)));
  return 0;
}

int by_recursion_ok(void) {
  free_all_deep(entry_new("a", entry_new("b", entry_new("c", entry_new("d", NULL)))));
  return 0;
}

int nodes_only_bad(void) {
  struct entry *list = entry_new("a", NULL); // LEAK
  free_nodes(list); // LOST
  return 0;
}

int prepended_ok(int n) {
  struct entry *list = NULL;
  for (int i = 0; i < n; i++)
    list = entry_new("x", list);
  free_all(list);
  return 0;
}

int appended_ok(int n) {
  struct entry *list = NULL, *last = NULL;
  for (int i = 0; i < n; i++) {
    struct entry *e = entry_new("x", NULL);
    if (last)
      last->next = e;
    else
      list = e;
    last = e;
  }
  free_all(list);
  return 0;
}

int appended_by_address_ok(int n) {
  struct entry *list = NULL, **end = &list;
  for (int i = 0; i < n; i++) {
    *end = entry_new("x", NULL);
    end = &(*end)->next;
  }
  free_all(list);
  return 0;
}

struct queue {
  struct entry *head, *tail;
  int length;
};

static void push(struct queue *q, const char *text) {
  struct entry *e = entry_new(text, NULL);
  if (q->tail)
    q->tail->next = e;
  else
    q->head = e;
  q->tail = e;
  q->length++;
}

static char *pop(struct queue *q) {
  struct entry *e = q->head;
  char *text;
  if (!e)
    return NULL;
  q->head = e->next;
  if (!q->head)
    q->tail = NULL;
  text = e->text;
  free(e);
  q->length--;
  return text;
}

int drained_ok(void) {
  struct queue q = {0};
  char *text;
  push(&q, "a");
  push(&q, "b");
  while ((text = pop(&q)))
    free(text);
  return 0;
}

int popped_bad(void) {
  struct queue q = {0};
  push(&q, "a"); // LEAK
  pop(&q);
  return 0;
}

static void queue_free(struct queue *q) {
  free_all(q->head);
  free(q);
}

int owned_by_queue_ok(void) {
  struct queue *q = calloc(1, sizeof *q);
  if (!q)
    return -1;
  push(q, "a");
  push(q, "b");
  queue_free(q);
  return 0;
}

int queue_only_bad(void) {
  struct queue *q = calloc(1, sizeof *q);
  if (!q)
    return -1;
  push(q, "a"); // LEAK
  free(q); // LOST
  return 0;
}

/* A table of objects, each of which owns another: an older row is not touched when the next one is made. */
struct row {
  char *cells;
  int width;
};

static struct row *row_new(int width) {
  struct row *r = calloc(1, sizeof *r);
  if (!r)
    abort();
  r->width = width;
  r->cells = malloc(width);
  if (!r->cells)
    abort();
  return r;
}

struct table {
  struct row **rows;
  int n;
};

struct table *table_new_ok(int n) {
  struct table *t = calloc(1, sizeof *t);
  if (!t)
    abort();
  t->rows = calloc(n, sizeof *t->rows);
  if (!t->rows)
    abort();
  t->n = n;
  for (int i = 0; i < t->n; i++)
    t->rows[i] = row_new(80);
  return t;
}
