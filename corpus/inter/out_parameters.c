/* Memory handed out through a parameter, announced by the return code. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum status { S_OK, S_NOMEM, S_SYNTAX };

static int dup_into(char **out, const char *s) {
  char *t = strdup(s);
  if (!t)
    return -1;
  *out = t;
  return 0;
}

static bool try_dup(const char *s, char **out) {
  *out = s[0] ? strdup(s) : NULL;
  return *out != NULL;
}

static enum status parse_key(const char *s, char **key, int *len) {
  char *k = strdup(s);
  if (!k)
    return S_NOMEM;
  if (k[0] == '=') {
    free(k);
    return S_SYNTAX;
  }
  *key = k;
  *len = (int)strlen(k);
  return S_OK;
}

int zero_is_success_bad(const char *s) {
  char *p;
  if (dup_into(&p, s) != 0) // LEAK
    return -1;
  return p[0];
}

int zero_is_success_ok(const char *s) {
  char *p;
  if (dup_into(&p, s) != 0)
    return -1;
  int c = p[0];
  free(p);
  return c;
}

int negative_is_failure_bad(const char *s, int limit) {
  char *p = NULL;
  int rc = dup_into(&p, s); // LEAK
  if (rc < 0)
    return rc;
  if ((int)strlen(p) > limit)
    return -2;
  free(p);
  return 0;
}

int negative_is_failure_ok(const char *s, int limit) {
  char *p = NULL;
  int rc = dup_into(&p, s);
  if (rc < 0)
    return rc;
  if ((int)strlen(p) > limit)
    rc = -2;
  free(p);
  return rc;
}

int true_is_success_bad(const char *s) {
  char *p;
  if (try_dup(s, &p)) // LEAK
    return p[0];
  return 0;
}

int true_is_success_ok(const char *s) {
  char *p;
  if (!try_dup(s, &p))
    return 0;
  int c = p[0];
  free(p);
  return c;
}

int enum_code_bad(const char *s) {
  char *key;
  int len;
  enum status st = parse_key(s, &key, &len); // LEAK
  if (st == S_OK)
    return len;
  return -(int)st;
}

int enum_code_ok(const char *s) {
  char *key;
  int len;
  enum status st = parse_key(s, &key, &len);
  if (st != S_OK)
    return -(int)st;
  free(key);
  return len;
}
