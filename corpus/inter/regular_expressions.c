// A compiled regular expression is memory of its handle.
#include <regex.h>
#include <stdlib.h>

int matches_ok(const char *text) {
  regex_t re;
  if (regcomp(&re, "^a+$", REG_EXTENDED))
    return -1;
  int result = regexec(&re, text, 0, NULL, 0);
  regfree(&re);
  return result;
}

int matches_bad(const char *text) {
  regex_t re;
  if (regcomp(&re, "^a+$", REG_EXTENDED)) // LEAK
    return -1;
  return regexec(&re, text, 0, NULL, 0);
}

static regex_t shared;

int kept_ok(void) {
  return regcomp(&shared, "x", 0);
}

regex_t *compiled_ok(const char *pattern) {
  regex_t *re = malloc(sizeof *re);
  if (!re)
    return NULL;
  if (regcomp(re, pattern, 0)) {
    free(re);
    return NULL;
  }
  return re;
}

int handle_freed_alone_bad(const char *pattern, const char *text) {
  regex_t *re = malloc(sizeof *re);
  if (!re)
    return -1;
  if (regcomp(re, pattern, 0)) { // LEAK
    free(re);
    return -1;
  }
  int result = regexec(re, text, 0, NULL, 0);
  free(re);
  return result;
}

int handle_freed_ok(const char *pattern, const char *text) {
  regex_t *re = malloc(sizeof *re);
  if (!re)
    return -1;
  if (regcomp(re, pattern, 0)) {
    free(re);
    return -1;
  }
  int result = regexec(re, text, 0, NULL, 0);
  regfree(re);
  free(re);
  return result;
}
