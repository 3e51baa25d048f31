/* Fresh memory as an argument of another call. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *copy(const char *s) {
  return strdup(s);
}

static char *concat(const char *a, const char *b) {
  size_t n = strlen(a);
  char *r = malloc(n + strlen(b) + 1);
  if (!r)
    exit(1);
  strcpy(r, a);
  strcpy(r + n, b);
  return r;
}

static size_t count(const char *s, char c) {
  size_t n = 0;
  for (; s && *s; s++)
    n += *s == c;
  return n;
}

static void show_and_free(char *s) {
  if (s)
    puts(s);
  free(s);
}

static char *names[8];
static int n_names;

static int keep(char *s) {
  if (n_names == 8)
    n_names = 0;
  free(names[n_names]);
  names[n_names++] = s;
  return n_names;
}

size_t read_only_bad(const char *s) {
  return count(copy(s), 'a'); // LEAK
}

size_t read_only_ok(const char *s) {
  return count(s, 'a');
}

void consumed_bad(const char *s) {
  fputs(copy(s), stdout); // LEAK
}

void consumed_ok(const char *s) {
  show_and_free(copy(s));
}

char *three_parts_bad(const char *a, const char *b, const char *c) {
  return concat(concat(a, b), c); // LEAK
}

char *three_parts_ok(const char *a, const char *b, const char *c) {
  char *ab = concat(a, b);
  char *abc = concat(ab, c);
  free(ab);
  return abc;
}

int kept_bad(const char *s) {
  return (int)strlen(concat(s, "!")); // LEAK
}

int kept_ok(const char *s) {
  return keep(concat(s, "!"));
}
