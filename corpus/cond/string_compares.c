/* Equal questions about unchanged strings have equal answers. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define STREQ(a, b) (strcmp((a), (b)) == 0)

static int streq(const char *a, const char *b) {
  return strcmp(a, b) == 0;
}

int same_word_bad(const char *fmt) {
  char *w = NULL;
  if (strcmp(fmt, "raw") == 0)
    w = malloc(64); // LEAK
  int n = w != NULL;
  if (strcmp(fmt, "gz") == 0)
    free(w);
  return n;
}

int same_word_ok(const char *fmt) {
  char *w = NULL;
  if (strcmp(fmt, "raw") == 0)
    w = malloc(64);
  int n = w != NULL;
  if (strcmp(fmt, "raw") == 0)
    free(w);
  return n;
}

int kept_result_bad(const char *a, const char *b) {
  int cmp = strcmp(a, b);
  char *p = NULL;
  if (cmp != 0)
    p = strdup(a); // LEAK
  if (cmp > 0)
    free(p);
  return cmp;
}

int kept_result_ok(const char *a, const char *b) {
  int cmp = strcmp(a, b);
  char *p = NULL;
  if (cmp != 0)
    p = strdup(a);
  if (cmp > 0)
    free(p);
  else if (cmp < 0)
    free(p);
  return cmp;
}

int by_macro_bad(const char *on) {
  char *p = (char *)on;
  if (STREQ(on, "yes"))
    p = strdup("1"); // LEAK
  int v = p ? p[0] : 0;
  if (!STREQ(on, "yes"))
    return v;
  return -v;
}

int by_macro_ok(const char *on) {
  char *p = (char *)on;
  if (STREQ(on, "yes"))
    p = strdup("1");
  int v = p ? p[0] : 0;
  if (!STREQ(on, "yes"))
    return v;
  free(p);
  return -v;
}

int by_function_bad(const char *a, const char *b) {
  char *p = NULL;
  if (streq(a, b))
    p = malloc(3); // LEAK
  if (!streq(a, b))
    free(p);
  return p != NULL;
}

int by_function_ok(const char *a, const char *b) {
  char *p = NULL;
  if (streq(a, b))
    p = malloc(3);
  if (streq(a, b))
    free(p);
  return 0;
}

int first_letter_bad(const char *s) {
  char *p = NULL;
  if (s[0] == '/')
    p = strdup(s); // LEAK
  if (s[0] == '/' && s[1] == '/')
    free(p);
  return s[0];
}

int first_letter_ok(const char *s) {
  char *p = NULL;
  if (s[0] == '/' && s[1] == '/')
    p = strdup(s);
  if (s[0] == '/')
    free(p);
  return s[0];
}
