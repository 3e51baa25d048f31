/* An allocator keeps a header before each block: what it hands out, and what is put into other blocks, points behind that. */
#include <stdlib.h>
#include <string.h>

struct header {
  long length;
  long mark;
};

static void *take(long length) {
  struct header *header = malloc(sizeof *header + length);
  if (!header)
    exit(1);
  header->length = length;
  header->mark = 57005;
  return header + 1;
}

static void give_back(void *block) {
  struct header *header = (struct header *)block - 1;
  if (header->mark != 57005)
    abort();
  free(header);
}

struct node {
  struct node *next;
  int key;
};

struct table {
  unsigned long size, used;
  struct node **slots;
};

struct filter {
  int limit;
  struct table *table;
};

static void set_size(struct table *table, unsigned long size) {
  struct node **slot;
  table->slots = slot = take(size * sizeof *slot);
  table->size = size;
  table->used = 0;
  while (size-- > 0)
    *slot++ = NULL;
}

static struct table *new_table(void) {
  struct table *table = take(sizeof *table);
  set_size(table, 13);
  return table;
}

static void grow(struct table *table) {
  unsigned long size = table->size;
  struct node **slot = table->slots, **old = slot, *node, *next;
  set_size(table, 2 * size);
  while (size-- > 0) {
    for (node = *slot++; node; node = next) {
      next = node->next;
      node->next = table->slots[node->key % table->size];
      table->slots[node->key % table->size] = node;
      table->used++;
    }
  }
  give_back(old);
}

static int enter(struct filter *filter, int key) {
  struct table *table = filter->table;
  struct node *node;
  for (node = table->slots[key % table->size]; node; node = node->next)
    if (node->key == key)
      return 1;
  if (table->used >= table->size)
    grow(table);
  node = take(sizeof *node);
  node->key = key;
  node->next = table->slots[key % table->size];
  table->slots[key % table->size] = node;
  table->used++;
  return 0;
}

static void free_table(struct table *table, void (*release)(struct node *)) {
  unsigned long i = table->size;
  struct node **slot = table->slots, *node, *next;
  while (i-- > 0)
    for (node = *slot++; node; node = next) {
      next = node->next;
      if (release)
        release(node);
      give_back(node);
    }
  give_back(table->slots);
  give_back(table);
}

static struct filter *new_filter(int limit) {
  struct filter *filter = take(sizeof *filter);
  filter->limit = limit;
  filter->table = new_table();
  return filter;
}

static void free_filter(struct filter *filter) {
  free_table(filter->table, NULL);
  give_back(filter);
}

static void free_filter_bad(struct filter *filter) {
  give_back(filter);
}

int count_ok(const int *keys, int n) {
  struct filter *filter = new_filter(n);
  int found = 0;
  for (int i = 0; i < n; i++)
    found += enter(filter, keys[i]);
  free_filter(filter);
  return found;
}

int limit_bad(int n) {
  struct filter *filter = new_filter(n); // LEAK
  int limit = filter->limit;
  free_filter_bad(filter);
  return limit;
}
