/* A buffer that is grown in a loop is another block each time; what is returned in the end is the caller's. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *quoted(const char *text) {
  size_t room = 8, used = 0;
  char *out = malloc(room);
  if (!out)
    abort();
  for (; *text; text++) {
    if (used + 3 > room) {
      room *= 2;
      out = realloc(out, room);
      if (!out)
        abort();
    }
    if (*text == '\\' || *text == '"')
      out[used++] = '\\';
    else if (*text < ' ')
      continue;
    out[used++] = *text;
  }
  out[used] = '\0';
  return out;
}

void print_bad(const char *text) {
  char *q = quoted(text); // LEAK
  printf("\"%s\"\n", q);
}

void print_ok(const char *text) {
  char *q = quoted(text);
  printf("\"%s\"\n", q);
  free(q);
}
