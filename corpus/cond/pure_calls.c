/* Repeated calls with equal arguments, nothing written in between. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int is_compressed(void);
int is_encrypted(void);
int level_of(int id);

static int is_power_of_two(unsigned n) {
  return n && !(n & (n - 1));
}

struct opts {
  int mode;
  int depth;
};

static int wants_copy(const struct opts *o) {
  return o->mode == 1 && o->depth > 2;
}

void unknown_twice_bad(void) {
  char *idx = NULL;
  if (is_compressed())
    idx = malloc(40); // LEAK
  putchar(idx ? 'c' : 'p');
  if (is_encrypted())
    free(idx);
}

void unknown_twice_ok(void) {
  char *idx = NULL;
  if (is_compressed())
    idx = malloc(40);
  putchar(idx ? 'c' : 'p');
  if (is_compressed())
    free(idx);
}

void argument_bad(int id) {
  char *p = NULL;
  if (level_of(id) > 0)
    p = malloc(40); // LEAK
  if (level_of(id + 1) > 0)
    free(p);
}

void argument_ok(int id) {
  char *p = NULL;
  if (level_of(id) > 0)
    p = malloc(40);
  if (level_of(id) > 0)
    free(p);
}

void known_twice_bad(unsigned n) {
  char *p = NULL;
  if (is_power_of_two(n))
    p = malloc(n); // LEAK
  if (n != 8 && is_power_of_two(n))
    free(p);
}

void known_twice_ok(unsigned n) {
  char *p = NULL;
  if (is_power_of_two(n))
    p = malloc(n);
  if (n != 6 && is_power_of_two(n))
    free(p);
}

int through_pointer_bad(struct opts *o, const char *s) {
  char *p = NULL;
  if (wants_copy(o))
    p = strdup(s); // LEAK
  o->depth--;
  if (wants_copy(o))
    free(p);
  return o->mode;
}

int through_pointer_ok(struct opts *o, const char *s) {
  char *p = NULL;
  if (wants_copy(o))
    p = strdup(s);
  if (wants_copy(o))
    free(p);
  o->depth--;
  return o->mode;
}

void character_class_bad(int c) {
  char *p = NULL;
  if (isdigit(c) || c == '-')
    p = malloc(4); // LEAK
  if (isdigit(c))
    free(p);
}

void character_class_ok(int c) {
  char *p = NULL;
  if (isdigit(c))
    p = malloc(4); // OK[false-alarm]: the body of a pure function is not looked into
  if (isdigit(c) || c == '-')
    free(p);
}

/* A variable that the loop changes is not the same for every call. */
static int is_left(const int *n) {
  return *n > 0;
}

int counted_down_bad(int n) {
  char *p = malloc(4); // LEAK
  int turns = 0;
  if (!p)
    return 1;
  while (is_left(&n)) {
    n--;
    turns++;
  }
  if (turns > 3)
    return 1;
  free(p);
  return 0;
}

int counted_down_ok(int n) {
  char *p = malloc(4);
  int turns = 0;
  if (!p)
    return 1;
  while (is_left(&n)) {
    n--;
    turns++;
  }
  free(p);
  return turns > 3;
}
