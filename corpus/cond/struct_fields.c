/* The condition is stored in a field. */
#include <stdlib.h>
#include <string.h>

struct ctx {
  int mode;
  unsigned owned : 1;
  unsigned closed : 1;
  char *name;
  struct {
    int level;
  } log;
};

static void ctx_close(struct ctx *c) {
  c->closed = 1;
}

static int ctx_level(const struct ctx *c) {
  return c->log.level;
}

int parameter_field_bad(struct ctx *c, const char *s) {
  char *p = (char *)s;
  if (c->mode == 3)
    p = strdup(s); // LEAK
  c->mode = 0;
  int v = p ? p[0] : 0;
  if (c->mode == 3)
    free(p);
  return v;
}

int parameter_field_ok(struct ctx *c, const char *s) {
  char *p = (char *)s;
  if (c->mode == 3)
    p = strdup(s);
  c->log.level = 0;
  int v = p ? p[0] : 0;
  if (c->mode == 3)
    free(p);
  return v;
}

int local_bitfield_bad(const char *s, int dup) {
  struct ctx c;
  memset(&c, 0, sizeof c);
  c.name = (char *)s;
  if (dup) {
    c.name = strdup(s); // LEAK
    c.owned = dup > 1;
  }
  if (c.owned)
    free(c.name);
  return c.mode;
}

int local_bitfield_ok(const char *s, int dup) {
  struct ctx c;
  memset(&c, 0, sizeof c);
  c.name = (char *)s;
  if (dup) {
    c.name = strdup(s);
    c.owned = 1;
  }
  if (c.owned)
    free(c.name);
  return c.mode;
}

int changed_by_callee_bad(struct ctx *c) {
  char *p = NULL;
  if (!c->closed)
    p = malloc(9); // LEAK
  ctx_close(c);
  if (!c->closed)
    free(p);
  return 0;
}

int changed_by_callee_ok(struct ctx *c) {
  char *p = NULL;
  if (!c->closed)
    p = malloc(9); // OK[false-alarm]: a field that a callee writes under a condition is unknown afterwards
  ctx_close(c);
  if (c->closed)
    free(p);
  return 0;
}

int nested_field_bad(struct ctx *c) {
  char *p = NULL;
  if (ctx_level(c) > 1)
    p = malloc(9); // LEAK
  if (c->log.level > 2)
    free(p);
  return c->mode;
}

int nested_field_ok(struct ctx *c) {
  char *p = NULL;
  if (ctx_level(c) > 1)
    p = malloc(9);
  if (c->log.level >= 2)
    free(p);
  return c->mode;
}

int copied_struct_bad(struct ctx in) {
  struct ctx c = in;
  char *p = NULL;
  if (in.mode & 1)
    p = malloc(9); // LEAK
  c.mode >>= 1;
  if (c.mode & 1)
    free(p);
  return c.mode;
}

int copied_struct_ok(struct ctx in) {
  struct ctx c = in;
  char *p = NULL;
  if (in.mode & 1)
    p = malloc(9);
  in.mode >>= 1;
  if (c.mode & 1)
    free(p);
  return in.mode;
}
