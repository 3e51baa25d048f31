/* Loops that go through the elements of a block until they meet its end, by hand or by functions over an iterator. */
#include <stdlib.h>

struct range {
  char **begin, **end;
};

struct iterator {
  char **at;
};

static void advance(struct iterator *it) {
  it->at++;
}

static char **element(struct iterator *it) {
  return it->at;
}

static int differ(const struct iterator *a, const struct iterator *b) {
  return a->at != b->at;
}

static void done_by_pointer(struct range *r) {
  for (char **it = r->begin; it != r->end; ++it)
    free(*it);
  free(r->begin);
}

static void done_by_iterator(struct range *r) {
  struct iterator it = {r->begin}, end = {r->end};
  while (differ(&it, &end)) {
    char *p = *element(&it);
    if (p)
      free(p);
    advance(&it);
  }
  free(r->begin);
}

static void elements_only(struct range *r) {
  for (char **it = r->begin; it != r->end; ++it)
    free(*it);
}

static void block_only(struct range *r) {
  for (char **it = r->begin; it != r->end; ++it)
    **it = 0;
  free(r->begin);
}

static int fill(struct range *r) {
  r->begin = malloc(4 * sizeof(char *));
  if (!r->begin)
    return -1;
  r->begin[0] = malloc(10);
  r->end = r->begin + 1;
  return 0;
}

int by_pointer_ok(void) {
  struct range r;
  if (fill(&r))
    return 1;
  done_by_pointer(&r);
  return 0;
}

int by_iterator_ok(void) {
  struct range r;
  if (fill(&r))
    return 1;
  done_by_iterator(&r);
  return 0;
}

int block_is_left_bad(void) {
  struct range r;
  if (fill(&r)) // LEAK
    return 1;
  elements_only(&r);
  return 0;
}

int elements_are_left_bad(void) {
  struct range r;
  r.begin = malloc(4 * sizeof(char *));
  if (!r.begin)
    return 1;
  r.begin[0] = malloc(10); // LEAK
  if (!r.begin[0]) {
    free(r.begin);
    return 1;
  }
  r.end = r.begin + 1;
  block_only(&r);
  return 0;
}
