/* Containers whose insertion can fail: the element stays with the caller then. */
#include <stdlib.h>
#include <string.h>

struct vec {
  void **items;
  size_t len, cap;
};

int vec_push(struct vec *v, void *item) {
  if (v->len == v->cap) {
    size_t cap = v->cap ? v->cap * 2 : 4;
    void **items = realloc(v->items, cap * sizeof *items);
    if (!items)
      return -1;
    v->items = items;
    v->cap = cap;
  }
  v->items[v->len++] = item;
  return 0;
}

struct bucket {
  struct bucket *next;
  char *key;
};

struct table {
  struct bucket *heads[16];
};

static int table_add(struct table *t, char *key) {
  struct bucket *b = malloc(sizeof *b);
  if (!b)
    return 0;
  unsigned h = (unsigned char)key[0] % 16;
  b->key = key;
  b->next = t->heads[h];
  t->heads[h] = b;
  return 1;
}

#define RING_SIZE 8
struct ring {
  char *slot[RING_SIZE];
  unsigned head, used;
};

static int ring_put(struct ring *r, char *s) {
  if (r->used == RING_SIZE)
    return -1;
  r->slot[(r->head + r->used++) % RING_SIZE] = s;
  return 0;
}

int push_bad(struct vec *v, const char *s) {
  char *e = strdup(s); // LEAK
  if (!e)
    return -1;
  return vec_push(v, e);
}

int push_ok(struct vec *v, const char *s) {
  char *e = strdup(s);
  if (!e)
    return -1;
  if (vec_push(v, e) < 0) {
    free(e);
    return -1;
  }
  return 0;
}

int add_bad(struct table *t, const char *s) {
  char *k = strdup(s); // LEAK
  if (!k)
    return -1;
  if (!table_add(t, k))
    return -1;
  return 0;
}

int add_ok(struct table *t, const char *s) {
  char *k = strdup(s);
  if (!k)
    return -1;
  if (!table_add(t, k)) {
    free(k);
    return -1;
  }
  return 0;
}

void put_bad(struct ring *r, const char *s) {
  char *e = strdup(s); // LEAK
  if (e)
    ring_put(r, e);
}

void put_ok(struct ring *r, const char *s) {
  char *e = strdup(s);
  if (e && ring_put(r, e) != 0)
    free(e);
}
