/* Functions that return the argument they were given, or null. */
#include <stdlib.h>
#include <string.h>

struct num {
  long v;
  int neg;
};

static struct num *num_new(void) {
  return calloc(1, sizeof(struct num));
}

static struct num *num_copy(struct num *to, const struct num *from) {
  if (from->v > 1000000)
    return NULL;
  to->v = from->v;
  return to;
}

static char *fill(char *dst, int c, size_t n) {
  memset(dst, c, n);
  return dst;
}

struct num *dup_bad(const struct num *a) {
  struct num *t = num_new(); // LEAK
  if (!t)
    return NULL;
  return num_copy(t, a);
}

struct num *dup_ok(const struct num *a) {
  struct num *t = num_new();
  if (!t)
    return NULL;
  if (!num_copy(t, a)) {
    free(t);
    return NULL;
  }
  return t;
}

int alias_freed_bad(size_t n) {
  char *p = malloc(n); // LEAK
  if (!p)
    return -1;
  char *q = fill(p, 'x', n);
  p = NULL;
  q = p; // LOST
  free(q);
  return 0;
}

int alias_freed_ok(size_t n) {
  char *p = malloc(n);
  if (!p)
    return -1;
  char *q = fill(p, 'x', n);
  p = NULL;
  free(q);
  return 0;
}
