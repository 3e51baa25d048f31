/* The callee stores its argument on some paths only. */
#include <stdlib.h>
#include <string.h>

struct cache {
  char *value;
  int enabled;
};

struct conn {
  struct cache *cache;
  char *peer;
};

static char *last_error;

static void cache_put(struct cache *c, char *v) {
  if (c->enabled) {
    free(c->value);
    c->value = v;
  } else {
    free(v);
  }
}

static int cache_try_put(struct cache *c, char *v) {
  if (!c->enabled)
    return 0;
  free(c->value);
  c->value = v;
  return 1;
}

static void remember(char *msg, int fatal) {
  if (fatal)
    last_error = msg;
}

int always_taken_bad(struct conn *c, const char *s) {
  char *v = strdup(s); // LEAK
  if (!v)
    return -1;
  if (c->cache)
    cache_put(c->cache, v);
  return 0;
}

int always_taken_ok(struct conn *c, const char *s) {
  char *v = strdup(s);
  if (!v)
    return -1;
  if (c->cache)
    cache_put(c->cache, v);
  else
    free(v);
  return 0;
}

int maybe_taken_bad(struct conn *c, const char *s) {
  char *v = strdup(s); // LEAK
  if (!v)
    return -1;
  cache_try_put(c->cache, v);
  return 0;
}

int maybe_taken_ok(struct conn *c, const char *s) {
  char *v = strdup(s);
  if (!v)
    return -1;
  if (!cache_try_put(c->cache, v))
    free(v);
  return 0;
}

void flagged_bad(const char *s) {
  char *m = strdup(s); // LEAK
  remember(m, 0);
}

void flagged_ok(const char *s) {
  char *m = strdup(s);
  remember(m, 1);
}

int through_holder_bad(struct conn *out, const char *s) {
  struct conn tmp = {NULL, strdup(s)}; // LEAK
  if (!tmp.peer)
    return -1;
  if (tmp.peer[0] == '#')
    return -1;
  *out = tmp;
  return 0;
}

int through_holder_ok(struct conn *out, const char *s) {
  struct conn tmp = {NULL, strdup(s)};
  if (!tmp.peer)
    return -1;
  *out = tmp;
  if (tmp.peer[0] == '#')
    return -1;
  return 0;
}

const char *last(void) {
  return last_error;
}
