/* A buffer that starts inside the struct and moves to the heap when it grows. */
#include <stdlib.h>
#include <string.h>

struct sbuf {
  char *p;
  size_t n;
  int dynamic;
  char fixed[16];
};

static void sb_open(struct sbuf *b) {
  b->p = b->fixed;
  b->n = sizeof b->fixed;
  b->dynamic = 0;
}

static int sb_need(struct sbuf *b, size_t n) {
  if (n <= b->n)
    return 1;
  char *q = malloc(n);
  if (!q)
    return 0;
  memcpy(q, b->p, b->n);
  if (b->dynamic)
    free(b->p);
  b->p = q;
  b->n = n;
  b->dynamic = 1;
  return 1;
}

static void sb_close(struct sbuf *b) {
  if (b->dynamic)
    free(b->p);
  sb_open(b);
}

int grown_bad(size_t n) {
  struct sbuf b;
  sb_open(&b);
  if (!sb_need(&b, n)) // LEAK
    return -1;
  b.p[0] = 'a';
  return b.p[0] == 'a';
}

int grown_ok(size_t n) {
  struct sbuf b;
  sb_open(&b);
  if (!sb_need(&b, n))
    return -1;
  b.p[0] = 'a';
  sb_close(&b);
  return 0;
}

int flag_cleared_bad(void) {
  struct sbuf b;
  sb_open(&b);
  if (!sb_need(&b, 100)) // LEAK
    return -1;
  b.dynamic = 0;
  sb_close(&b); // LOST
  return 0;
}

int flag_cleared_ok(void) {
  struct sbuf b;
  sb_open(&b);
  if (!sb_need(&b, 100))
    return -1;
  b.n = 0;
  sb_close(&b);
  return 0;
}
