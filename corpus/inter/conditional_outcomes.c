// Outcomes of a callee under different conditions: which of them fits the caller decides.
#include <stdlib.h>
#include <string.h>

static char *fill(int *count, int n) {
  if (n == 0)
    *count = 0;
  return malloc(4);
}

void other_outcome_bad(int *count, int n) {
  if (n != 0)
    fill(count, n); // LEAK
}

void other_outcome_ok(int *count, int n) {
  if (n != 0)
    free(fill(count, n));
}

static char *make_or_release(char *old, int n) {
  char *p = malloc(4);
  if (n == 0)
    free(p);
  if (n <= 0)
    old = NULL;
  return p;
}

void released_inside_ok(int n) {
  if (n == 0)
    make_or_release(NULL, n);
}

void not_released_inside_bad(int n) {
  if (n > 0)
    make_or_release(NULL, n); // LEAK
}

static void reset(char **out) { *out = NULL; }

static void reset_if(char **out, int n) {
  if (n == 0)
    *out = NULL;
}

// Null on both ways to the test.
void null_after_call_ok(int n) {
  char *p = NULL;
  if (n == 0)
    reset(&p);
  if (p)
    p = strdup("never");
}

void null_after_either_outcome_ok(int n) {
  char *p = NULL;
  reset_if(&p, n);
  if (p)
    p = strdup("never");
}

void null_after_call_bad(int n) {
  char *p = NULL;
  if (n == 0)
    reset(&p);
  if (!p)
    p = strdup("always"); // LEAK
}

// Where the text ends, behind what was put into *out; null if there is none.
static char *scan(char *text, char **out) {
  char *p;
  if (*text == '\0')
    return NULL;
  *out = malloc(strlen(text) + 1);
  if (!*out)
    abort();
  for (p = text; *p != '\0'; p++)
    if (*p == ',')
      break;
  return p;
}

int null_without_block_ok(char *text) {
  char *word;
  char *rest = scan(text, &word);
  if (!rest)
    return -1;
  int first = word[0];
  free(word);
  return first;
}

int null_without_block_bad(char *text) {
  char *word;
  char *rest = scan(text, &word); // LEAK
  if (!rest)
    return -1;
  return *rest;
}
