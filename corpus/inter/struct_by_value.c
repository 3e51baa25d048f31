/* Structs that own memory travel by value, in registers and in memory. */
#include <stdlib.h>
#include <string.h>

struct str {
  char *p;
  size_t n;
};

struct doc {
  char *title;
  char *body;
  int flags[4];
};

static struct str str_make(const char *s) {
  struct str r = {strdup(s), strlen(s)};
  return r;
}

static void str_drop(struct str s) {
  free(s.p);
}

static size_t str_len(struct str s) {
  return s.p ? s.n : 0;
}

static struct doc doc_make(const char *t) {
  struct doc d;
  memset(&d, 0, sizeof d);
  d.title = strdup(t);
  return d;
}

static void doc_drop(struct doc d) {
  free(d.title);
  free(d.body);
}

static int doc_flags(struct doc d) {
  return d.flags[0] | d.flags[3];
}

size_t small_bad(const char *s) {
  struct str v = str_make(s); // LEAK
  return str_len(v);
}

size_t small_ok(const char *s) {
  struct str v = str_make(s);
  size_t n = str_len(v);
  str_drop(v);
  return n;
}

int large_bad(const char *s) {
  struct doc d = doc_make(s); // LEAK
  return doc_flags(d);
}

int large_ok(const char *s) {
  struct doc d = doc_make(s);
  int f = doc_flags(d);
  doc_drop(d);
  return f;
}

size_t temporary_bad(const char *s) {
  return str_len(str_make(s)); // LEAK
}

size_t temporary_ok(const char *s) {
  str_drop(str_make(s));
  return 0;
}

struct str trimmed_bad(const char *s) {
  struct str v = str_make(s); // LEAK
  if (v.n && v.p && v.p[0] == ' ')
    v = str_make(s + 1);
  return v;
}

struct str trimmed_ok(const char *s) {
  struct str v = str_make(s);
  if (v.n && v.p && v.p[0] == ' ') {
    str_drop(v);
    v = str_make(s + 1);
  }
  return v;
}
