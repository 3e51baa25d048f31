/* What main still holds at its end is no leak; what it lost before that is one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *rebuild_bad(const char *s) {
  char *t = strdup(s); // LEAK
  if (t && t[0] == '/')
    return strdup("/");
  return t;
}

static char *rebuild_ok(const char *s) {
  if (s[0] == '/')
    return strdup("/");
  return strdup(s);
}

int main(int argc, char **argv) {
  char *held = strdup(argv[0]);
  char *lost = malloc(8); // LEAK
  char *a = rebuild_bad(argv[0]);
  char *b = rebuild_ok(argv[0]);
  lost = malloc(16); // LOST
  if (held && a && b && argc > 1)
    puts(held);
  return lost == NULL;
}
