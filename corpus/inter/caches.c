// What a cache returns and keeps is not its caller's.
#include <stdlib.h>
#include <string.h>

struct entry {
  struct entry *next;
  char *name, *value;
};

static char *kept(const char *name) {
  static struct entry *entries;
  struct entry *e;
  for (e = entries; e; e = e->next)
    if (strcmp(e->name, name) == 0)
      return e->value;
  e = calloc(1, sizeof *e);
  if (!e)
    abort();
  e->name = strdup(name);
  e->value = calloc(strlen(name) + 3, 1);
  e->next = entries;
  entries = e;
  return e->value;
}

static char *not_kept(const char *name) {
  char *value = calloc(strlen(name) + 3, 1);
  if (!value)
    abort();
  return value;
}

int flag_ok(const char *name) {
  char *value = kept(name);
  return value && *value;
}

int flag_bad(const char *name) {
  char *value = not_kept(name); // LEAK
  return value && *value;
}

static const char *in_static_buffer(const char *name) {
  static char *buffer;
  free(buffer);
  buffer = strdup(name);
  return buffer;
}

size_t two_names_ok(const char *a, const char *b) {
  size_t length = strlen(in_static_buffer(a));
  return length + strlen(in_static_buffer(b));
}

struct table {
  void *slots[8];
  int used;
};

static int insert(struct table *t, int at, void *what) {
  if (t->slots[at])
    return -1;
  t->slots[at] = what;
  t->used++;
  return 0;
}

// The insertion can fail, but nobody looks: whoever calls this takes the result for the table's.
static int *register_number(struct table *t, int at) {
  int *number = malloc(sizeof *number);
  if (!number)
    abort();
  insert(t, at, number);
  return number;
}

void register_ok(struct table *t) {
  *register_number(t, 3) = 7;
}
