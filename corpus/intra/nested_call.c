/* Temporaries inside call arguments. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void print_copy_bad(const char *s) {
  puts(strdup(s)); // LEAK
}

void print_copy_ok(const char *s) {
  char *t = strdup(s);
  puts(t);
  free(t);
}

size_t measure_bad(const char *s) {
  return strlen(strdup(s)); // LEAK
}

size_t measure_ok(const char *s) {
  char *t = strdup(s);
  size_t n = strlen(t);
  return free(t), n;
}

int compare_folded_bad(const char *a, const char *b) {
  return strcmp(strdup(a), strndup(b, 8)); // LEAK x2
}

int compare_folded_ok(const char *a, const char *b) {
  char *x = strdup(a), *y = strndup(b, 8);
  int r = strcmp(x, y);
  free(x);
  free(y);
  return r;
}

char *chained_bad(const char *a, const char *b) {
  char *p = strcat(strcpy(malloc(strlen(a) + strlen(b) + 1), a), b); // LEAK
  return p[0] ? p : NULL;
}

char *chained_ok(const char *a, const char *b) {
  char *p = strcat(strcpy(malloc(strlen(a) + strlen(b) + 1), a), b);
  return p;
}

void discarded_bad(const char *s) {
  strcpy(malloc(strlen(s) + 1), s); // LEAK
  free(strdup(s));
}

void discarded_ok(const char *s) {
  free(strcpy(malloc(strlen(s) + 1), s));
  free(strdup(s));
}
