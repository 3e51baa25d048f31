// Parameters, results and fields of type bool decide as numbers do, also through functions that hand them on.
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void release_if(char *p, bool really) {
  if (really)
    free(p);
  else
    puts("kept");
}

static void release_later(char *p, bool really) {
  release_if(p, really);
}

static void release_at_last(char *p, bool really) {
  release_later(p, really);
}

void handed_on_bad(void) {
  char *p = strdup("a"); // LEAK
  release_at_last(p, false);
}

void handed_on_ok(void) {
  char *p = strdup("a");
  release_at_last(p, true);
}

void negated_bad(bool keep) {
  char *p = strdup("a"); // LEAK
  release_if(p, !keep);
  if (!keep)
    puts("gone");
}

void negated_ok(bool keep) {
  char *p = strdup("a");
  release_if(p, !keep);
  if (keep)
    free(p);
}

static bool make(char **out, int n) {
  if (n > 100)
    return false;
  *out = malloc(8);
  return *out != NULL;
}

void made_bad(int n) {
  char *p;
  if (!make(&p, n)) // LEAK
    return;
  p[0] = 0;
}

void made_ok(int n) {
  char *p;
  if (!make(&p, n))
    return;
  p[0] = 0;
  free(p);
}

static bool take(char *p, int n) {
  if (n > 100)
    return false;
  free(p);
  return true;
}

void taken_bad(int n) {
  char *p = strdup("a"); // LEAK
  bool taken = take(p, n);
  printf("%d\n", taken);
}

void taken_ok(int n) {
  char *p = strdup("a");
  bool taken = take(p, n);
  if (!taken)
    free(p);
}

struct text {
  char *chars;
  bool is_owned;
};

static void text_free(struct text *t) {
  if (t->is_owned)
    free(t->chars);
}

void owned_bad(void) {
  struct text t = {strdup("a"), false}; // LEAK
  text_free(&t);
}

void owned_ok(void) {
  struct text t = {strdup("a"), true};
  text_free(&t);
}
