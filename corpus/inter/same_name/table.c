/* release() of this file frees, make() returns fresh memory. */
#include <stdlib.h>
#include <string.h>

static char *make(const char *s) {
  return strdup(s);
}

static void release(char *p) {
  free(p);
}

int table_lookup_bad(const char *k, int deep) {
  char *key = make(k); // LEAK
  if (!key)
    return -1;
  if (deep)
    return 1;
  release(key);
  return 0;
}

int table_lookup_ok(const char *k, int deep) {
  char *key = make(k);
  if (!key)
    return -1;
  release(key);
  return deep != 0;
}
