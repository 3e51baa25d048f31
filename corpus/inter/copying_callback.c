// Whether a table copies what it is given was decided when the table was set up: whoever gives it a block of its own knows.
#include <stdlib.h>
#include <string.h>

struct entry { char *key; struct entry *next; };
struct table;
struct type {
  int (*hash)(const char *);
  char *(*copy)(struct table *, const char *);
};
struct table { struct type *type; struct entry *first; };

static char *copy_plain(struct table *t, const char *text) {
  (void)t;
  return strdup(text);
}

static int hash(const char *text) { return *text; }

struct type copying = { hash, copy_plain };
struct type plain = { hash, NULL };

static struct entry *add_raw(struct table *t, const char *key) {
  struct entry *e;
  for (e = t->first; e; e = e->next)
    if (t->type->hash(e->key) == t->type->hash(key))
      return NULL;
  e = calloc(1, sizeof *e);
  if (!e)
    abort();
  e->next = t->first;
  t->first = e;
  return e;
}

int added_ok(struct table *t, const char *text) {
  struct entry *e = add_raw(t, text);
  if (!e)
    return 0;
  char *own = strdup(text);
  if (t->type->copy)
    e->key = t->type->copy(t, own);
  else
    e->key = own;
  return 1;
}

int added_bad(struct table *t, const char *text) {
  struct entry *e = add_raw(t, text);
  if (!e)
    return 0;
  char *own = strdup(text); // LEAK
  if (t->type->copy)
    e->key = t->type->copy(t, text);
  else
    e->key = own;
  return 1;
}
