/* release() of this file only counts, make() returns a part of its argument. */
#include <stdlib.h>
#include <string.h>

static int released;

static char *make(char *s) {
  return s + 1;
}

static void release(char *p) {
  if (p)
    released++;
}

int view_bad(const char *s) {
  char *copy = strdup(s); // LEAK
  if (!copy)
    return -1;
  char *tail = make(copy);
  release(tail);
  return released;
}

int view_ok(const char *s) {
  char *copy = strdup(s);
  if (!copy)
    return -1;
  char *tail = make(copy);
  release(tail);
  free(copy);
  return released;
}
