// What a callee decides out of everybody's sight is no reason to call its callers wrong.
#include <stdlib.h>
#include <string.h>

struct table {
  char *keys[16];
  char *values[16];
  int used;
};

int external_check(const struct table *);

static int find(struct table *t, const char *key) {
  for (int i = 0; i < t->used; i++)
    if (!strcmp(t->keys[i], key))
      return i;
  return -1;
}

static int add(struct table *t, char *key, char *value) {
  if (find(t, key) >= 0)
    return -1;
  t->keys[t->used] = key;
  t->values[t->used++] = value;
  return 0;
}

void result_not_looked_at_ok(struct table *t, char *key) {
  char *value = malloc(10); // the caller knows that the key is new
  if (!value)
    return;
  add(t, key, value);
}

int result_looked_at_bad(struct table *t, char *key) {
  char *value = malloc(10); // LEAK
  if (!value)
    return -1;
  if (add(t, key, value) < 0)
    return -2;
  return 0;
}

int result_looked_at_ok(struct table *t, char *key) {
  char *value = malloc(10);
  if (!value)
    return -1;
  if (add(t, key, value) < 0) {
    free(value);
    return -2;
  }
  return 0;
}

static void release(char *p, const struct table *t) {
  if (external_check(t))
    return;
  free(p);
}

void sanity_check_ok(const struct table *t) {
  char *p = malloc(10);
  release(p, t);
}
