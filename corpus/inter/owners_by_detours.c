/* Fields that own what they hold, although what is put there or read there takes a detour. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The block is read from a variable whose address was given away to have it filled. */
struct row {
  char **names_bad, **names_ok;
  int count;
};

void row_fill_bad(struct row *r, int n) {
  r->names_bad = calloc(n, sizeof(char *));
  r->count = n;
  for (int i = 0; i < n; i++) {
    char *name;
    if (asprintf(&name, "bad %d", i) < 0) // LEAK D004
      abort();
    r->names_bad[i] = name;
  }
}

void row_fill_ok(struct row *r, int n) {
  r->names_ok = calloc(n, sizeof(char *));
  r->count = n;
  for (int i = 0; i < n; i++) {
    char *name;
    if (asprintf(&name, "ok %d", i) < 0)
      abort();
    r->names_ok[i] = name;
  }
}

void row_drop(struct row *r) {
  for (int i = 0; i < r->count; i++) {
    free(r->names_bad[i]);
    free(r->names_ok[i]);
  }
  free(r->names_bad);
  free(r->names_ok);
}

struct table {
  struct row *rows;
};

/* The other one who frees such arrays frees what they hold. */
void table_shrink(struct table *t, int n) {
  for (int j = 0; j < t->rows[n].count; j++)
    free(t->rows[n].names_ok[j]);
  free(t->rows[n].names_bad); // LOST
  free(t->rows[n].names_ok);
}

/* The old pointer is shown by way of a variable of the function's own, which nobody keeps. */
union argument {
  const char *text;
  int number;
};

void show(const char *format, union argument *a) {
  printf(format, a->text);
}

static char *log_bad, *log_ok;

void log_name(void) {
  union argument a;
  a.text = log_bad;
  show("%s\n", &a);
  a.text = log_ok;
  show("%s\n", &a);
}

void log_end(void) {
  free(log_bad);
  log_bad = NULL;
  free(log_ok);
  log_ok = NULL;
}

void log_open_bad(const char *s) {
  if (log_bad)
    puts("again");
  log_bad = strdup(s); // LEAK D003 // LOST
}

void log_open_ok(const char *s) {
  if (log_ok)
    free(log_ok);
  log_ok = strdup(s);
}

/* The block is freed on ways on which it is not put anywhere, and another field points into it. */
struct word {
  char *text_bad, *text_ok, *rest;
  struct word *next;
};

static struct word *words;

void words_add(const char *s, int known) {
  char *bad = strdup(s), *ok = strdup(s); // LEAK D004
  if (known) {
    free(bad);
    free(ok);
    return;
  }
  struct word *w = calloc(1, sizeof(*w));
  if (!w)
    abort();
  w->text_bad = bad;
  w->text_ok = ok;
  w->rest = ok + 1;
  w->next = words;
  words = w;
}

void words_clear(void) {
  while (words) {
    struct word *w = words;
    words = w->next;
    free(w->text_ok);
    free(w); // LOST
  }
}

/* What is read through in a loop is there when the loop is left. */
struct columns {
  int *widths_bad, *widths_ok;
  int count;
};

int columns_set_bad(struct columns *c, int n) {
  int sum = 0;
  for (int i = 0; i < c->count; i++)
    sum += c->widths_bad[i];
  c->widths_bad = calloc(n, sizeof(int)); // LEAK D003 // LOST
  c->count = n;
  return sum;
}

int columns_set_ok(struct columns *c, int n) {
  int sum = 0;
  for (int i = 0; i < c->count; i++)
    sum += c->widths_ok[i];
  free(c->widths_ok);
  c->widths_ok = calloc(n, sizeof(int));
  c->count = n;
  return sum;
}

/* A count says that there is nothing to read, and nothing to lose. */
int columns_grow_ok(struct columns *c) {
  int sum = 0;
  for (int i = 0; i < c->count; i++)
    sum += c->widths_ok[i];
  if (c->count == 0) {
    c->widths_ok = calloc(8, sizeof(int));
    c->count = 8;
  }
  return sum;
}

void columns_drop(struct columns *c) {
  free(c->widths_bad);
  free(c->widths_ok);
}

/* Filled for a while only: the destructor finds nothing there. */
struct node {
  char *name;
  int *pairs;
};

void node_fill(struct node *n) {
  n->pairs = calloc(2, sizeof(int));
}

void node_empty(struct node *n) {
  free(n->pairs);
  n->pairs = NULL;
}

int node_show_ok(struct node *n) {
  node_fill(n);
  int sum = n->pairs ? n->pairs[0] : 0;
  node_empty(n);
  return sum;
}

struct node *node_new(const char *s) {
  struct node *n = calloc(1, sizeof(*n));
  if (n)
    n->name = strdup(s);
  return n;
}

void node_free(struct node *n) {
  free(n->name);
  free(n);
}

/* Two makers, one of which leaves the field empty: who frees the others forgets nothing. */
struct rule {
  char *start, *end;
};

struct rules {
  struct rule *first, *last;
};

static struct rules kept;

void rule_pair(const char *s) {
  struct rule *r = calloc(1, sizeof(*r));
  if (!r)
    return;
  r->end = strdup(s);
  kept.first = r;
}

struct rule *rule_plain(void) {
  return calloc(1, sizeof(struct rule));
}

void rule_use_ok(void) {
  kept.last = rule_plain();
}

void rules_drop_ok(void) {
  free(kept.last);
}
