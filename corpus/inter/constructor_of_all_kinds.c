/* One constructor for nodes of all kinds, which others call for each kind; only the parser fills a field, and the destructor forgets it. */
#include <stdlib.h>
#include <string.h>

enum kind { LEAF, FILE_NODE };

struct part_bad {
  enum kind kind;
  char *text;
  char *encoding;
  struct part_bad *next;
};

static struct part_bad *part_new_bad(enum kind kind, struct part_bad *next) {
  struct part_bad *p = calloc(1, sizeof(*p));
  if (p) {
    p->kind = kind;
    p->next = next;
  }
  return p;
}

static struct part_bad *leaf_new_bad(struct part_bad *next, const char *text) {
  struct part_bad *p = part_new_bad(LEAF, next);
  if (p)
    p->text = strdup(text);
  return p;
}

static struct part_bad *file_new_bad(struct part_bad *next) {
  return part_new_bad(FILE_NODE, next);
}

int parse_bad(struct part_bad **list, const char *text, const char *encoding) {
  struct part_bad *p = text ? leaf_new_bad(*list, text) : file_new_bad(*list);
  if (!p)
    return -1;
  *list = p;
  if (encoding) {
    p->encoding = strdup(encoding); // LEAK
    if (!p->encoding)
      return -1;
  }
  return 0;
}

void parts_free_bad(struct part_bad *p) {
  if (p) {
    if (p->next)
      parts_free_bad(p->next); // LOST
    free(p->text);
    free(p);
  }
}

struct part_ok {
  enum kind kind;
  char *text;
  char *encoding;
  struct part_ok *next;
};

static struct part_ok *part_new_ok(enum kind kind, struct part_ok *next) {
  struct part_ok *p = calloc(1, sizeof(*p));
  if (p) {
    p->kind = kind;
    p->next = next;
  }
  return p;
}

static struct part_ok *leaf_new_ok(struct part_ok *next, const char *text) {
  struct part_ok *p = part_new_ok(LEAF, next);
  if (p)
    p->text = strdup(text);
  return p;
}

static struct part_ok *file_new_ok(struct part_ok *next) {
  return part_new_ok(FILE_NODE, next);
}

int parse_ok(struct part_ok **list, const char *text, const char *encoding) {
  struct part_ok *p = text ? leaf_new_ok(*list, text) : file_new_ok(*list);
  if (!p)
    return -1;
  *list = p;
  if (encoding) {
    p->encoding = strdup(encoding);
    if (!p->encoding)
      return -1;
  }
  return 0;
}

void parts_free_ok(struct part_ok *p) {
  if (p) {
    if (p->next)
      parts_free_ok(p->next);
    free(p->text);
    free(p->encoding);
    free(p);
  }
}

/* Two kinds under one name: those of the table have no pattern, and they alone are freed. */
struct rule_ok {
  int colour;
  char *pattern;
  struct rule_ok *next;
};

static struct rule_ok *rules, *table[4];

static struct rule_ok *colour_ok(int colour) {
  struct rule_ok *r = calloc(1, sizeof(*r));
  if (r)
    r->colour = colour;
  return r;
}

static void add_rule_ok(const char *pattern) {
  struct rule_ok *r = calloc(1, sizeof(*r));
  if (r) {
    r->pattern = strdup(pattern);
    r->next = rules;
    rules = r;
  }
}

void read_rules_ok(const char *pattern, int colour) {
  add_rule_ok(pattern);
  free(table[colour & 3]);
  table[colour & 3] = colour_ok(colour);
}
