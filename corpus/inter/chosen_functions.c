// One of several functions is called, and the caller has chosen which.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void release(char *p) {
  free(p);
}

static void look(char *p) {
  puts(p);
}

static void (*const actions[])(char *) = {release, look};

void by_index_ok(void) {
  char *p = strdup("a");
  actions[0](p);
}

void by_index_bad(void) {
  char *p = strdup("a"); // LEAK
  actions[1](p);
}

void by_variable_bad(int n) {
  char *p = strdup("a"); // LEAK[missed]: one of two functions is called, and only one of them frees; silence over noise
  actions[n & 1](p);
}

void chosen_bad(int n) {
  char *p = strdup("a"); // LEAK[missed]: the path knows which function the pointer is, the call does not ask it
  void (*action)(char *) = release;
  if (n)
    action = look;
  action(p);
}

void chosen_ok(int n) {
  char *p = strdup("a");
  void (*action)(char *) = release;
  if (n) {
    action = look;
    action(p);
    action = release;
  }
  action(p);
}

static char *apply(char *(*make)(const char *), const char *text) {
  return make(text);
}

static char *copy(const char *text) {
  return strdup(text);
}

void made_by_callback_bad(void) {
  char *p = apply(copy, "a"); // LEAK
  if (p)
    puts(p);
}

void made_by_callback_ok(void) {
  char *p = apply(copy, "a");
  if (p)
    puts(p);
  free(p);
}
