/* A cache that is made where it is kept, and freed there if its table can't be had: there is no old table in it. */
#include <stdlib.h>

struct cache {
  int *slots;
  unsigned size;
};

struct cache **cache_of(int n);

int cache_grow_ok(struct cache *cache, unsigned size) {
  if (cache->size < size) {
    int *slots = realloc(cache->slots, size * sizeof *slots);
    if (!slots)
      return -1;
    cache->slots = slots;
    cache->size = size;
  }
  return 0;
}

struct cache *cache_get_ok(int n, unsigned size) {
  struct cache **place = cache_of(n);
  if (!*place) {
    *place = calloc(1, sizeof **place);
    if (!*place)
      return NULL;
    (*place)->slots = calloc(size, sizeof(int));
    if (!(*place)->slots) {
      free(*place);
      *place = NULL;
      return NULL;
    }
    (*place)->size = size;
  } else if (cache_grow_ok(*place, size) < 0)
    return NULL;
  return *place;
}

void cache_drop_ok(int n) {
  struct cache *cache = *cache_of(n);
  if (cache) {
    free(cache->slots);
    free(cache);
    *cache_of(n) = NULL;
  }
}

/* The old one is freed where it is kept, with its table still in it. */
struct index {
  int *rows;
  unsigned count;
};

struct index **index_of(int n);

int index_fill_bad(int n, unsigned count) {
  struct index **place = index_of(n);
  if (!*place)
    return -1;
  free((*place)->rows);
  (*place)->rows = calloc(count, sizeof(int)); // LEAK D004
  (*place)->count = count;
  return 0;
}

void index_drop_bad(int n) {
  struct index **place = index_of(n);
  free(*place); // LOST
  *place = NULL;
}
