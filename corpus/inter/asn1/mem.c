/* Allocation with source positions, and a stack of pointers. */
#include "asn1.h"
#include <stdlib.h>

static int failures;

void *MEM_malloc(size_t n, const char *file, int line) {
  (void)file;
  (void)line;
  if (n == 0)
    return NULL;
  void *p = malloc(n);
  if (p == NULL)
    failures++;
  return p;
}

void MEM_free(void *p, const char *file, int line) {
  (void)file;
  (void)line;
  free(p);
}

STACK *sk_new(int max) {
  STACK *st = OPENSSL_malloc(sizeof(*st));
  if (st == NULL)
    return NULL;
  st->num = 0;
  st->max = max;
  st->data = OPENSSL_malloc(sizeof(void *) * (size_t)max);
  if (st->data == NULL) {
    OPENSSL_free(st);
    return NULL;
  }
  return st;
}

int sk_push(STACK *st, void *p) {
  if (st->num == st->max)
    return 0;
  st->data[st->num++] = p;
  return st->num;
}

void sk_free(STACK *st) {
  if (st == NULL)
    return;
  OPENSSL_free(st->data);
  OPENSSL_free(st);
}
