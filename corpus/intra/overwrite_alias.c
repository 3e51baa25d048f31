/* Overwriting one of several holders loses nothing, overwriting the last one does. */
#include <stdlib.h>
#include <string.h>

int last_alias_bad(const char *s, char *spare) {
  char *a = strdup(s); // LEAK
  char *b = a;
  if (!b)
    return -1;
  a = spare;
  b = spare; // LOST
  return a == b;
}

int last_alias_ok(const char *s, char *spare) {
  char *a = strdup(s);
  char *b = a;
  if (!b)
    return -1;
  a = spare;
  free(b);
  b = spare;
  return a == b;
}

int swap_bad(void) {
  int *x = malloc(4); // LEAK
  int *y = malloc(8);
  int *t = x;
  x = y;
  y = t;
  t = NULL;
  free(x);
  x = NULL;
  return x == y && t == NULL;
}

int swap_ok(void) {
  int *x = malloc(4);
  int *y = malloc(8);
  int *t = x;
  x = y;
  y = t;
  t = NULL;
  free(x);
  free(y);
  x = NULL;
  return x == t;
}

int through_pointer_bad(size_t n) {
  char *p = malloc(n); // LEAK
  char **pp = &p;
  if (!p)
    return 1;
  *pp = NULL; // LOST
  free(p);
  return 0;
}

int through_pointer_ok(size_t n) {
  char *p = malloc(n);
  char **pp = &p;
  if (!p)
    return 1;
  free(*pp);
  *pp = NULL;
  free(p);
  return 0;
}
