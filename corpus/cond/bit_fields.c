/* A byte that is tested by its lowest bit is no truth value: other bits may be set. */
#include <stdbool.h>
#include <stdlib.h>

struct fields {
  unsigned own : 1;
  unsigned kind : 3;
  char *p;
};

struct flags {
  unsigned char bits;
  char *p;
};

struct truth {
  bool own;
  char *p;
};

static void release_fields(struct fields *f) {
  if (f->own)
    free(f->p);
}

static void release_kind(struct fields *f) {
  if (f->kind)
    free(f->p);
}

static void release_flags(struct flags *f) {
  if (f->bits & 1)
    free(f->p);
}

static void release_truth(struct truth *t) {
  if (t->own)
    free(t->p);
}

void fields_bad(void) {
  struct fields f = {0};
  f.kind = 1;
  f.p = malloc(3); // LEAK
  release_fields(&f);
}

void fields_ok(void) {
  struct fields f = {0};
  f.own = 1;
  f.p = malloc(3);
  release_fields(&f);
}

void kind_bad(void) {
  struct fields f = {0};
  f.own = 1;
  f.p = malloc(3); // LEAK
  release_kind(&f);
}

void kind_ok(void) {
  struct fields f = {0};
  f.kind = 4;
  f.p = malloc(3);
  release_kind(&f);
}

void flags_bad(void) {
  struct flags f = {2, NULL};
  f.p = malloc(3); // LEAK
  release_flags(&f);
}

void flags_ok(void) {
  struct flags f = {3, NULL};
  f.p = malloc(3);
  release_flags(&f);
}

void truth_bad(void) {
  struct truth t = {false, NULL};
  t.p = malloc(3); // LEAK
  release_truth(&t);
}

void truth_ok(void) {
  struct truth t = {true, NULL};
  t.p = malloc(3);
  release_truth(&t);
}
