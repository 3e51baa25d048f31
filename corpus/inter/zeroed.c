// A field of a zeroed block that nobody has set is not set.
#include <stdlib.h>
#include <string.h>

struct map {
  unsigned stored : 1;
  int magic;
  void *lock;
};

static void map_free(struct map *m) {
  if (m == NULL || m->stored)
    return;
  free(m->lock);
  free(m);
}

int never_stored_ok(int fail) {
  struct map *m = calloc(1, sizeof *m);
  if (!m)
    return -1;
  m->lock = malloc(8);
  if (!m->lock || fail) {
    map_free(m);
    return -1;
  }
  map_free(m);
  return 0;
}

int stored_bad(void) {
  struct map *m = calloc(1, sizeof *m); // LEAK
  if (!m)
    return -1;
  m->stored = 1;
  map_free(m);
  return 0;
}

static void *zalloc(size_t size) {
  void *block = malloc(size);
  if (block != NULL)
    memset(block, 0, size);
  return block;
}

static struct map *map_new(int magic) {
  struct map *m = zalloc(sizeof *m);
  if (!m)
    return NULL;
  m->magic = magic;
  return m;
}

static int map_close(struct map *m) {
  if (m->magic != 42)
    return -1;
  map_free(m);
  return 0;
}

int through_wrappers_ok(void) {
  struct map *m = map_new(42);
  return m ? map_close(m) : -1;
}

int wrong_magic_bad(void) {
  struct map *m = map_new(41); // LEAK
  return m ? map_close(m) : -1;
}
