/* The container carries the function that releases its elements. */
#include <stdlib.h>
#include <string.h>

struct box {
  void *data;
  void (*free_data)(void *);
};

static void box_init(struct box *b, void (*fn)(void *)) {
  b->data = NULL;
  b->free_data = fn;
}

static void box_set(struct box *b, void *p) {
  if (b->data && b->free_data)
    b->free_data(b->data);
  b->data = p;
}

static void box_done(struct box *b) {
  if (b->data && b->free_data)
    b->free_data(b->data);
  b->data = NULL;
}

int owned_bad(const char *s) {
  struct box b;
  box_init(&b, NULL);
  box_set(&b, strdup(s)); // LEAK
  box_done(&b);           // LOST
  return b.data == NULL;
}

int owned_ok(const char *s) {
  struct box b;
  box_init(&b, free);
  box_set(&b, strdup(s));
  box_done(&b);
  return b.data == NULL;
}

int reset_bad(const char *s) {
  struct box b = {NULL, free};
  box_set(&b, strdup(s)); // LEAK
  box_init(&b, free);     // LOST
  box_done(&b);
  return 0;
}

int reset_ok(const char *s) {
  struct box b = {NULL, free};
  box_set(&b, strdup(s));
  box_set(&b, NULL);
  box_init(&b, free);
  box_done(&b);
  return 0;
}
