/* Reference counts: a release is a free only when the count reaches zero. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct robj {
  int refs;
  long val;
};

struct robj *robj_create(long v) {
  struct robj *o = malloc(sizeof *o);
  if (!o)
    return NULL;
  o->refs = 1;
  o->val = v;
  return o;
}

void robj_incr(struct robj *o) {
  o->refs++;
}

void robj_decr(struct robj *o) {
  if (o->refs == 1)
    free(o);
  else
    o->refs--;
}

static struct robj *robj_get(struct robj *o) {
  if (o)
    o->refs++;
  return o;
}

static void robj_put(struct robj *o) {
  if (o && --o->refs == 0)
    free(o);
}

long one_reference_bad(long v) {
  struct robj *o = robj_create(v); // LEAK
  if (!o)
    return -1;
  v = o->val;
  if (v > 10)
    return v;
  robj_decr(o);
  return 0;
}

long one_reference_ok(long v) {
  struct robj *o = robj_create(v);
  if (!o)
    return -1;
  v = o->val;
  robj_decr(o);
  return v;
}

long taken_twice_bad(long v) {
  struct robj *o = robj_create(v); // LEAK[missed]: a release that only counts down is taken to leave other holders
  if (!o)
    return -1;
  robj_incr(o);
  v = o->val + 1;
  robj_decr(o);
  return v;
}

long taken_twice_ok(long v) {
  struct robj *o = robj_create(v);
  if (!o)
    return -1;
  robj_incr(o);
  v = o->val + 1;
  robj_decr(o);
  robj_decr(o);
  return v;
}

long second_handle_bad(long v) {
  struct robj *o = robj_create(v); // LEAK[missed]: a release that only counts down is taken to leave other holders
  struct robj *alias = robj_get(o);
  if (!alias)
    return -1;
  v = alias->val;
  robj_put(o);
  return v;
}

long second_handle_ok(long v) {
  struct robj *o = robj_create(v);
  struct robj *alias = robj_get(o);
  if (!alias)
    return -1;
  v = alias->val;
  robj_put(o);
  robj_put(alias);
  return v;
}

/* Counted blocks that can be pinned: a count of all ones is for ever. The maker puts the first reference where it is told to. */
#define PINNED (~0u)

int make_counted(void *at, size_t size, size_t refs) {
  *(void **)at = calloc(1, size);
  if (*(void **)at == NULL)
    return -1;
  *(unsigned *)(*(char **)at + refs) = 1;
  return 0;
}

struct label {
  unsigned refs;
  char *text;
};

struct origin {
  struct label *file;
  long line;
  unsigned refs;
};

void label_free(struct label *l) {
  if (l == NULL)
    return;
  free(l->text);
  free(l);
}

#define release(p, destroy)                        \
  do {                                             \
    if ((p) != NULL && (p)->refs != PINNED) {      \
      if (--(p)->refs == 0)                        \
        destroy(p);                                \
    }                                              \
    (p) = NULL;                                    \
  } while (0)

void origin_free(struct origin *o) {
  if (o == NULL)
    return;
  release(o->file, label_free);
  free(o);
}

struct label *pinned_for_ever;

void label_pin(struct label *l) {
  l->refs = PINNED;
  pinned_for_ever = l;
}

struct label *label_make(const char *s) {
  struct label *l = NULL;
  if (make_counted(&l, sizeof *l, offsetof(struct label, refs)) < 0)
    return NULL;
  l->text = strdup(s);
  return l;
}

struct origin *origin_make(const char *file, long line) {
  struct origin *o = NULL;
  if (make_counted(&o, sizeof *o, offsetof(struct origin, refs)) < 0)
    return NULL;
  o->file = label_make(file);
  o->line = line;
  return o;
}

extern int say_label(struct label *);
extern int say_text(const char *);

long pinned_label_bad(const char *s, long n) {
  struct label *l = label_make(s); // LEAK x2
  if (l == NULL)
    return -1;
  if (n < 0)
    return n;
  n = say_text(l->text);
  release(l, label_free);
  return n;
}

long pinned_label_ok(const char *s, long n) {
  struct label *l = label_make(s);
  if (l == NULL)
    return -1;
  n = say_text(l->text);
  release(l, label_free);
  return n;
}

long pinned_owner_bad(const char *s, long n) {
  struct origin *o = origin_make(s, n); // LEAK x3
  if (o == NULL)
    return -1;
  if (n < 0)
    return n;
  n = o->line;
  release(o, origin_free);
  return n;
}

long pinned_owner_ok(const char *s, long n) {
  struct origin *o = origin_make(s, n);
  if (o == NULL)
    return -1;
  n = o->line;
  release(o, origin_free);
  return n;
}
