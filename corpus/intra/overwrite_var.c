/* The only variable that holds the block gets another value. */
#include <stdlib.h>
#include <string.h>

static char fallback[] = "none";

int set_null_bad(const char *s) {
  char *p = strdup(s); // LEAK
  if (!p)
    return -1;
  if (p[0] == '-')
    p = NULL; // LOST
  free(p);
  return 0;
}

int set_null_ok(const char *s) {
  char *p = strdup(s);
  if (!p)
    return -1;
  if (p[0] == '-') {
    free(p);
    p = NULL;
  }
  free(p);
  return 0;
}

char default_value_bad(const char *s) {
  char *name = strdup(s); // LEAK
  if (name && name[0] == '\0')
    name = fallback; // LOST
  char c = name ? name[0] : 0;
  if (name != fallback)
    free(name);
  return c;
}

char default_value_ok(const char *s) {
  char *name = strdup(s);
  if (name && name[0] == '\0') {
    free(name);
    name = fallback;
  }
  char c = name ? name[0] : 0;
  if (name != fallback)
    free(name);
  return c;
}

int second_alloc_bad(size_t n) {
  char *buf = malloc(n); // LEAK
  if (!buf)
    return -1;
  buf[0] = 'a';
  buf = malloc(n * 2); // LOST
  free(buf);
  return 0;
}

int second_alloc_ok(size_t n) {
  char *buf = malloc(n);
  if (!buf)
    return -1;
  buf[0] = 'a';
  free(buf);
  buf = malloc(n * 2);
  free(buf);
  return 0;
}
