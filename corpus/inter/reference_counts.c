/* Reference counts: a release is a free only when the count reaches zero. */
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
