/* A flag says whether the block is ours. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void owned_flag_bad(const char *s, int n) {
  char *p = (char *)s;
  int own = 0;
  if (n > 4) {
    p = strdup(s); // LEAK
    if (n > 5)
      own = 1;
  }
  if (p)
    puts(p);
  if (own)
    free(p);
}

void owned_flag_ok(const char *s, int n) {
  char *p = (char *)s;
  int own = 0;
  if (n > 4) {
    p = strdup(s);
    own = 1;
  }
  if (p)
    puts(p);
  if (own)
    free(p);
}

int borrowed_bad(const char *s, bool copy) {
  bool borrowed = true;
  char *p = (char *)s;
  if (copy) {
    p = strdup(s); // LEAK
    borrowed = p != NULL;
  }
  int c = p ? p[0] : 0;
  if (!borrowed)
    free(p);
  return c;
}

int borrowed_ok(const char *s, bool copy) {
  bool borrowed = true;
  char *p = (char *)s;
  if (copy) {
    p = strdup(s);
    borrowed = p == NULL;
  }
  int c = p ? p[0] : 0;
  if (!borrowed)
    free(p);
  return c;
}

void two_flags_bad(int verbose, int color) {
  char *esc = NULL;
  if (verbose || color)
    esc = malloc(16); // LEAK
  if (verbose && color)
    free(esc);
}

void two_flags_ok(int verbose, int color) {
  char *esc = NULL;
  if (verbose || color)
    esc = malloc(16);
  if (!(!verbose && !color))
    free(esc);
}

void copied_condition_bad(int n) {
  bool big = n >= 100;
  int *tab = NULL;
  if (big)
    tab = calloc(n, sizeof *tab); // LEAK
  if (n > 100)
    free(tab);
}

void copied_condition_ok(int n) {
  bool big = n >= 100;
  int *tab = NULL;
  if (big)
    tab = calloc(n, sizeof *tab);
  if (n > 99)
    free(tab);
}

int null_argument_bad(const char *opt) {
  char *dup = NULL;
  if (opt)
    dup = strdup(opt); // LEAK
  int used = dup != NULL;
  if (opt && *opt)
    free(dup);
  return used;
}

int null_argument_ok(const char *opt) {
  char *dup = NULL;
  if (opt)
    dup = strdup(opt);
  int used = dup != NULL;
  if (opt)
    free(dup);
  return used;
}
