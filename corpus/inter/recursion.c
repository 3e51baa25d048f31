/* Recursive walkers and destructors. */
#include <stdlib.h>

struct chain {
  struct chain *next;
  int v;
};

struct expr {
  struct expr *lhs, *rhs;
  char op;
};

static void chain_free(struct chain *c) {
  if (!c)
    return;
  chain_free(c->next);
  free(c);
}

static struct chain *chain_build(int n) {
  struct chain *head = NULL;
  while (n-- > 0) {
    struct chain *c = malloc(sizeof *c);
    if (!c)
      break;
    c->v = n;
    c->next = head;
    head = c;
  }
  return head;
}

static int chain_sum(const struct chain *c) {
  return c ? c->v + chain_sum(c->next) : 0;
}

static void expr_free(struct expr *e) {
  if (e) {
    expr_free(e->lhs);
    expr_free(e->rhs);
    free(e);
  }
}

static struct expr *expr_bin(char op, struct expr *l, struct expr *r) {
  struct expr *e = malloc(sizeof *e);
  if (!e) {
    expr_free(l);
    expr_free(r);
    return NULL;
  }
  e->op = op;
  e->lhs = l;
  e->rhs = r;
  return e;
}

int total_bad(int n) {
  struct chain *c = chain_build(n); // LEAK
  return chain_sum(c);
}

int total_ok(int n) {
  struct chain *c = chain_build(n);
  int s = chain_sum(c);
  chain_free(c);
  return s;
}

int negate_bad(char op) {
  struct expr *leaf = expr_bin(op, NULL, NULL); // LEAK
  if (!leaf)
    return -1;
  if (op == 'q')
    return 0;
  struct expr *e = expr_bin('-', leaf, NULL);
  expr_free(e);
  return 1;
}

int negate_ok(char op) {
  struct expr *leaf = expr_bin(op, NULL, NULL);
  if (!leaf)
    return -1;
  if (op == 'q') {
    expr_free(leaf);
    return 0;
  }
  struct expr *e = expr_bin('-', leaf, NULL);
  expr_free(e);
  return 1;
}

int count_down_bad(int n) {
  char *frame = malloc(16); // LEAK
  if (!frame)
    return -1;
  if (n > 0 && count_down_bad(n - 1) < 0)
    return -1;
  free(frame);
  return n;
}

int count_down_ok(int n) {
  char *frame = malloc(16);
  if (!frame)
    return -1;
  if (n > 0 && count_down_ok(n - 1) < 0) {
    free(frame);
    return -1;
  }
  free(frame);
  return n;
}
