/* One allocation site inside a callee stands for a different block at each call. */
#include <stdlib.h>
#include <string.h>

static void open_slot(char **slot, size_t n) {
  *slot = malloc(n);
}

struct half {
  char *text;
};

static struct half *half_new(const char *s) {
  struct half *h = malloc(sizeof *h);
  if (h)
    h->text = (char *)s;
  return h;
}

static void make_both(struct half **a, struct half **b, const char *s) {
  *a = half_new(s);
  *b = half_new(s);
}

int two_slots_bad(size_t n) {
  char *x, *y;
  open_slot(&x, n);
  open_slot(&y, n); // LEAK
  free(x);
  return y != NULL;
}

int two_slots_ok(size_t n) {
  char *x, *y;
  open_slot(&x, n);
  open_slot(&y, n);
  free(x);
  free(y);
  return 0;
}

int same_slot_bad(size_t n) {
  char *x;
  open_slot(&x, n); // LEAK
  open_slot(&x, n); // LOST
  free(x);
  return 0;
}

int same_slot_ok(size_t n) {
  char *x;
  open_slot(&x, n);
  free(x);
  open_slot(&x, n);
  free(x);
  return 0;
}

int two_results_bad(const char *s) {
  struct half *l, *r;
  make_both(&l, &r, s); // LEAK
  free(l);
  return r == NULL;
}

int two_results_ok(const char *s) {
  struct half *l, *r;
  make_both(&l, &r, s);
  free(l);
  free(r);
  return 0;
}
