/* Values in a union, released by a function that looks at the tag. */
#include <stdlib.h>
#include <string.h>

enum vtype { V_NONE, V_INT, V_STR };

struct value {
  enum vtype t;
  union {
    long i;
    char *s;
  } u;
};

static void value_set_int(struct value *v, long i) {
  v->t = V_INT;
  v->u.i = i;
}

static int value_set_str(struct value *v, const char *s) {
  v->u.s = strdup(s);
  v->t = v->u.s ? V_STR : V_NONE;
  return v->u.s != NULL;
}

static void value_clear(struct value *v) {
  if (v->t == V_STR)
    free(v->u.s);
  v->t = V_NONE;
}

int cleared_bad(const char *s) {
  struct value v = {V_NONE, {0}};
  if (!value_set_str(&v, s)) // LEAK
    return -1;
  if (v.u.s[0] == '0')
    value_clear(&v);
  return v.t;
}

int cleared_ok(const char *s) {
  struct value v = {V_NONE, {0}};
  if (!value_set_str(&v, s))
    return -1;
  if (v.u.s[0] == '0')
    value_clear(&v);
  value_clear(&v);
  return v.t;
}

int retagged_bad(const char *s) {
  struct value v = {V_NONE, {0}};
  value_set_str(&v, s); // LEAK
  value_set_int(&v, 7); // LOST
  value_clear(&v);
  return v.t;
}

int retagged_ok(const char *s) {
  struct value v = {V_NONE, {0}};
  value_set_str(&v, s);
  value_clear(&v);
  value_set_int(&v, 7);
  value_clear(&v);
  return v.t;
}
