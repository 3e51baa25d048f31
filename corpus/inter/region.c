/* A region that keeps a reference to what it hands out is no allocator; the region itself can be lost. */
#include <stdlib.h>

struct chunk {
  struct chunk *next;
  size_t size;
};

struct pool {
  struct chunk *chunks;
};

static struct pool permanent;

static void *pool_alloc(struct pool *p, size_t n) {
  struct chunk *c = malloc(sizeof *c + n);
  if (!c)
    return NULL;
  c->size = n;
  c->next = p->chunks;
  p->chunks = c;
  return c + 1;
}

static void *plain_alloc(size_t n) {
  struct chunk *c = malloc(sizeof *c + n);
  if (!c)
    return NULL;
  c->size = n;
  c->next = NULL;
  return c + 1;
}

static void pool_clear(struct pool *p) {
  while (p->chunks) {
    struct chunk *c = p->chunks;
    p->chunks = c->next;
    free(c);
  }
}

int kept_by_global_bad(size_t n) {
  char *s = plain_alloc(n + 1); // LEAK
  if (!s)
    return -1;
  s[0] = 'x';
  return s[0];
}

int kept_by_global_ok(size_t n) {
  char *s = pool_alloc(&permanent, n + 1);
  if (!s)
    return -1;
  s[0] = 'x';
  return s[0];
}

int local_region_bad(size_t n) {
  struct pool scratch = {NULL};
  char *s = pool_alloc(&scratch, n + 1); // LEAK
  if (!s)
    return -1;
  s[0] = 'x';
  return s[0];
}

int local_region_ok(size_t n) {
  struct pool scratch = {NULL};
  char *s = pool_alloc(&scratch, n + 1);
  if (!s)
    return -1;
  s[0] = 'x';
  n = (size_t)s[0];
  pool_clear(&scratch);
  return (int)n;
}

int callers_region_bad(struct pool *p, size_t n) {
  char *s = n < 100 ? pool_alloc(p, n + 1) : NULL;
  if (!s)
    s = plain_alloc(n + 1); // LEAK
  return s != NULL;
}

int callers_region_ok(struct pool *p, size_t n) {
  char *s = n < 100 ? pool_alloc(p, n + 1) : NULL;
  if (!s)
    s = pool_alloc(p, 1);
  return s != NULL;
}
