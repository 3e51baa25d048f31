// A flag that says whether a copy is wanted, on its way through functions that add others to it.
#include <stdlib.h>
#include <string.h>

enum { NO_COPY = 1, QUIET = 2, DEEP = 4 };

int is_interactive;

static char *rest_of(const char *text, int *at, int flags) {
  while (text[*at] && text[*at] != ')')
    ++*at;
  if (flags & NO_COPY)
    return NULL;
  return strdup(text + *at);
}

static char *inner(const char *text, int *at, int flags) {
  flags |= (is_interactive ? QUIET : 0);
  return rest_of(text, at, flags | DEEP);
}

int skipped_ok(const char *text, int flags) {
  int at = 0;
  char *copy = inner(text, &at, NO_COPY | (flags & DEEP));
  (void)copy;
  return at;
}

int skipped_bad(const char *text, int flags) {
  int at = 0;
  char *copy = inner(text, &at, QUIET | (flags & DEEP)); // LEAK D001
  (void)copy;
  return at;
}
