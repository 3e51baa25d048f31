/* The callee returns the argument it got, or memory of its own. */
#include <stdlib.h>
#include <string.h>

struct big {
  int top;
  int d[4];
};

static struct big *big_copy(struct big *to, const struct big *from) {
  if (from->top > 4)
    return NULL;
  *to = *from;
  return to;
}

static char *normalise(const char *in, char *buf) {
  char *out = buf ? buf : malloc(strlen(in) + 1);
  if (out)
    strcpy(out, in);
  return out;
}

static const char *maybe_expand(const char *s, char **fresh) {
  *fresh = NULL;
  if (s[0] != '~')
    return s;
  *fresh = strdup(s + 1);
  return *fresh;
}

static char *strip_or_copy(char *s, int inplace) {
  if (inplace)
    return s;
  return strdup(s);
}

struct big *big_dup_bad(const struct big *a) {
  struct big *t = malloc(sizeof *t); // LEAK
  if (!t)
    return NULL;
  struct big *r = big_copy(t, a);
  if (!r && a->top > 5)
    free(t);
  return r;
}

struct big *big_dup_ok(const struct big *a) {
  struct big *t = malloc(sizeof *t);
  if (!t)
    return NULL;
  struct big *r = big_copy(t, a);
  if (!r)
    free(t);
  return r;
}

int caller_buffer_bad(const char *s) {
  char *p = normalise(s, NULL); // LEAK
  return p ? p[0] : 0;
}

int caller_buffer_ok(const char *s) {
  char buf[256];
  if (strlen(s) >= sizeof buf)
    return -1;
  char *p = normalise(s, buf);
  return p ? p[0] : 0;
}

int expanded_bad(const char *s) {
  char *fresh;
  const char *e = maybe_expand(s, &fresh); // LEAK
  int c = e ? e[0] : 0;
  if (e == s)
    free(fresh);
  return c;
}

int expanded_ok(const char *s) {
  char *fresh;
  const char *e = maybe_expand(s, &fresh);
  int c = e ? e[0] : 0;
  if (e != s)
    free(fresh);
  return c;
}

int in_place_bad(char *s, int inplace) {
  char *t = strip_or_copy(s, inplace); // LEAK
  int c = t ? t[0] : 0;
  if (t == s)
    return c;
  return -c;
}

int in_place_ok(char *s, int inplace) {
  char *t = strip_or_copy(s, inplace);
  int c = t ? t[0] : 0;
  if (t == s)
    return c;
  free(t);
  return -c;
}
