/* A block is handed to a function that keeps it, or refuses it because of what it finds in memory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct node {
  const char *key;
  void *value;
  struct node *next;
};

struct table {
  struct node *first;
};

/* Refuses a key that is there already; ends the program when memory runs out. */
static int add(struct table *table, const char *key, void *value) {
  for (struct node *node = table->first; node; node = node->next)
    if (!strcmp(node->key, key))
      return 1;
  struct node *node = malloc(sizeof *node);
  if (!node)
    abort();
  node->key = key;
  node->value = value;
  node->next = table->first;
  table->first = node;
  return 0;
}

/* Who hands over a new block knows its keys. */
int register_value_ok(struct table *table, const char *key) {
  int *value = malloc(sizeof *value);
  if (!value)
    return 0;
  *value = 1;
  return add(table, key, value) == 0;
}

int register_when_asked_bad(struct table *table, const char *key, int wanted) {
  int *value = malloc(sizeof *value); // LEAK
  if (!value)
    return 0;
  *value = 1;
  if (!wanted)
    return 0;
  return add(table, key, value) == 0;
}

/* Refuses for want of memory: that happens to everybody. */
static int push(struct table *table, const char *key, void *value) {
  struct node *node = malloc(sizeof *node);
  if (!node)
    return 1;
  node->key = key;
  node->value = value;
  node->next = table->first;
  table->first = node;
  return 0;
}

int push_value_bad(struct table *table, const char *key) {
  int *value = malloc(sizeof *value); // LEAK
  if (!value)
    return 0;
  *value = 1;
  return push(table, key, value) == 0;
}

/* A table of the program's: who does not ask whether the name was taken knows that it is new. */
struct entry {
  struct entry *previous, *next;
  char *name;
  int number;
};

static struct entry *names[101];

static int hash(const char *name) {
  int hash = 0;
  for (int i = 0; name[i]; i++)
    hash = (hash * 2 + (unsigned char)name[i]) % 101;
  return hash;
}

static int enter(struct entry **names, char *name, int number) {
  int at = hash(name);
  struct entry *entry = names[at];
  struct entry *successor;
  while (entry) {
    if (!strcmp(name, entry->name))
      return -1;
    entry = entry->next;
  }
  entry = malloc(sizeof *entry);
  if (!entry)
    abort();
  if ((successor = names[at])) {
    entry->next = successor;
    successor->previous = entry;
  } else
    entry->next = NULL;
  entry->previous = NULL;
  entry->name = name;
  entry->number = number;
  names[at] = entry;
  return 0;
}

static char *copied(const char *text) {
  char *copy = strdup(text);
  if (!copy)
    abort();
  return copy;
}

void enter_class_ok(const char *text, int number) {
  (void)enter(names, copied(text), number);
}

void enter_name_bad(const char *text) {
  if (enter(names, copied(text), 0)) // LEAK
    puts("defined twice");
}
