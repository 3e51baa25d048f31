/* Allocators and deallocators that belong together: hidden headers, alignment, matching release functions. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct hdr {
  size_t size;
  size_t magic;
};

static size_t in_use;

__attribute__((malloc)) void *zmalloc(size_t n) {
  struct hdr *h = malloc(sizeof *h + n);
  if (!h)
    return NULL;
  h->size = n;
  in_use += n;
  return h + 1;
}

void zfree(void *p) {
  if (!p)
    return;
  struct hdr *h = (struct hdr *)p - 1;
  in_use -= h->size;
  free(h);
}

size_t zmalloc_size(void *p) {
  return ((struct hdr *)p - 1)->size;
}

struct pkey {
  int bits;
};

static struct pkey *pkey_new(int bits) {
  struct pkey *k = zmalloc(sizeof *k);
  if (k)
    k->bits = bits;
  return k;
}

static void pkey_free(struct pkey *k) {
  zfree(k);
}

size_t header_bad(size_t n) {
  char *p = zmalloc(n); // LEAK
  if (!p)
    return 0;
  return zmalloc_size(p);
}

size_t header_ok(size_t n) {
  char *p = zmalloc(n);
  if (!p)
    return 0;
  n = zmalloc_size(p);
  zfree(p);
  return n;
}

int typed_bad(int bits) {
  struct pkey *a = pkey_new(bits); // LEAK
  struct pkey *b = pkey_new(bits);
  if (!a || !b) {
    pkey_free(b);
    return -1;
  }
  pkey_free(a);
  pkey_free(b);
  return bits;
}

int typed_ok(int bits) {
  struct pkey *a = pkey_new(bits);
  struct pkey *b = pkey_new(bits);
  if (!a || !b) {
    pkey_free(a);
    pkey_free(b);
    return -1;
  }
  pkey_free(a);
  pkey_free(b);
  return bits;
}
