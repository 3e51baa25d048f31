/* A union in a structure is one field, whichever member is meant. */
#include <stdlib.h>
#include <string.h>

struct bar {
  union {
    char **keys;
    const char *const *constant;
  } labels;
  int is_constant;
};

static struct bar *bars[8];
static const char *const usual[] = {"Help", "Quit"};

int bar_add_bad(int n) {
  struct bar *b = calloc(1, sizeof *b);
  if (!b)
    return -1;
  b->labels.keys = calloc(10, sizeof(char *)); // LEAK D004
  bars[n & 7] = b;
  return 0;
}

static void bar_free_bad(struct bar *b) {
  free(b);
}

void bar_drop_bad(int n) {
  struct bar *b = bars[n & 7];
  bars[n & 7] = NULL;
  if (b)
    bar_free_bad(b);
}

struct foot {
  union {
    char **keys;
    const char *const *constant;
  } labels;
  int is_constant;
};

static struct foot *feet[8];

int foot_add_ok(int n, int is_constant) {
  struct foot *f = calloc(1, sizeof *f);
  if (!f)
    return -1;
  f->is_constant = is_constant;
  if (is_constant)
    f->labels.constant = usual;
  else
    f->labels.keys = calloc(10, sizeof(char *));
  feet[n & 7] = f;
  return 0;
}

static void foot_free_ok(struct foot *f) {
  if (!f->is_constant)
    free(f->labels.keys);
  free(f);
}

void foot_drop_ok(int n) {
  struct foot *f = feet[n & 7];
  feet[n & 7] = NULL;
  if (f)
    foot_free_ok(f);
}
