/* Members of a union are one cell. */
#include <stdlib.h>
#include <string.h>

struct variant {
  int type;
  union {
    char *str;
    void *obj;
    long num;
    struct {
      char *lo;
      char *hi;
    } range;
  } u;
};

int other_member_bad(const char *s) {
  struct variant v = {1, {NULL}};
  v.u.str = strdup(s); // LEAK
  v.u.num = 42;        // LOST
  return v.type;
}

int other_member_ok(const char *s) {
  struct variant v = {1, {NULL}};
  v.u.str = strdup(s);
  free(v.u.obj);
  v.u.num = 42;
  return v.type;
}

int second_word_bad(const char *s) {
  struct variant v = {2, {NULL}};
  v.u.range.lo = strdup(s);
  v.u.range.hi = strdup(s); // LEAK
  free(v.u.str);
  return v.type;
}

int second_word_ok(const char *s) {
  struct variant v = {2, {NULL}};
  v.u.range.lo = strdup(s);
  v.u.range.hi = strdup(s);
  free(v.u.str);
  free(v.u.range.hi);
  return v.type;
}
