/* Fields that get what callers have made, lend it to unknown code, or are filled by the copy of a whole structure. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void show(char *text);

/* The constructor keeps what it is given: new blocks of its callers. */
struct item {
  struct item *next;
  char *text_bad, *text_ok;
};

static struct item *items;

static void item_add(char *bad, char *ok) {
  struct item *it = malloc(sizeof *it);
  if (!it)
    abort();
  it->text_bad = bad;
  it->text_ok = ok;
  it->next = items;
  items = it;
}

void item_copy(const char *text) {
  char *bad = strdup(text); // LEAK D004
  char *ok = strdup(text);
  item_add(bad, ok);
}

static void item_free(struct item *it) {
  free(it->text_ok);
  free(it);
}

void items_clear(void) {
  while (items) {
    struct item *it = items;
    items = it->next;
    item_free(it); // LOST
  }
}

/* A buffer that unknown code gets to see, and that another destructor frees. */
struct buffer {
  char *data;
  int mode;
};

struct buffer *buffer_new(int mode) {
  struct buffer *b = calloc(1, sizeof *b);
  if (b)
    b->mode = mode;
  return b;
}

int buffer_fill(struct buffer *b) {
  b->data = malloc(64); // LEAK D004
  if (!b->data)
    return -1;
  show(b->data);
  return 0;
}

void buffer_close_ok(struct buffer *b) {
  free(b->data);
  free(b);
}

void buffer_close_bad(struct buffer *b) {
  printf("%d\n", b->mode);
  free(b); // LOST
}

/* Filled by the copy of a structure without a name; others replace the string. */
struct screen {
  char *name_bad, *name_ok;
  int flags;
};

struct screen *screen_new(const char *name) {
  struct screen *s = malloc(sizeof *s);
  if (!s)
    abort();
  *s = (struct screen){.name_bad = strdup(name), .name_ok = strdup(name), .flags = 1}; // LEAK D004
  return s;
}

void screen_rename(struct screen *s, const char *name) {
  free(s->name_ok);
  s->name_ok = strdup(name);
}

void screen_free(struct screen *s) {
  free(s->name_ok);
  free(s); // LOST
}

/* Filled with numbers by a call, with new blocks by hand, and copied into a node. */
struct lock {
  int owner;
  char *kind_bad, *kind_ok;
};

struct lock_node {
  struct lock lock;
  struct lock_node *next;
};

struct lock_node *locks_read(FILE *file) {
  struct lock_node *first = NULL, **last = &first;
  char line[100], kind[32];
  while (fgets(line, sizeof line, file)) {
    struct lock lock = {.owner = 0};
    if (sscanf(line, "%d %31s", &lock.owner, kind) != 2)
      continue;
    lock.kind_bad = strdup(kind); // LEAK D004
    lock.kind_ok = strdup(kind);
    *last = calloc(1, sizeof **last);
    if (!*last)
      abort();
    (*last)->lock = lock;
    last = &(*last)->next;
  }
  return first;
}

static void lock_clear(struct lock *lock) {
  free(lock->kind_ok);
}

void locks_free(struct lock_node *n) {
  while (n) {
    struct lock_node *next = n->next;
    lock_clear(&n->lock);
    free(n); // LOST
    n = next;
  }
}
