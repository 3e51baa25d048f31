/* Out-parameters: *out holds the block where it was stored, and only there. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

int make_token_bad(char **out, const char *s, size_t max) {
  char *t = strdup(s); // LEAK
  if (!t)
    return -ENOMEM;
  if (strlen(t) > max)
    return -E2BIG;
  *out = t;
  return 0;
}

int make_token_ok(char **out, const char *s, size_t max) {
  char *t = strdup(s);
  if (!t)
    return -ENOMEM;
  *out = t;
  if (strlen(t) > max)
    return -E2BIG;
  return 0;
}

int optional_out_bad(char **out, size_t n) {
  char *buf = calloc(1, n); // LEAK
  if (!buf)
    return -1;
  if (out)
    *out = buf;
  return 0;
}

int optional_out_ok(char **out, size_t n) {
  char *buf = calloc(1, n);
  if (!buf)
    return -1;
  if (out)
    *out = buf;
  else
    free(buf);
  return 0;
}

int local_out_bad(size_t n) {
  char *p = NULL;
  char **out = &p;
  *out = malloc(n); // LEAK
  return *out ? 0 : -1;
}

int local_out_ok(size_t n) {
  char *p = NULL;
  char **out = &p;
  *out = malloc(n);
  free(p);
  return 0;
}
