/* The struct has a destructor, or at least fields that own blocks; the caller uses plain free. */
#include <stdlib.h>
#include <string.h>

struct cert {
  char *subject;
  unsigned char *der;
  size_t der_len;
};

static struct cert *cert_new(const unsigned char *d, size_t n) {
  struct cert *c = calloc(1, sizeof *c);
  if (!c)
    return NULL;
  c->der = malloc(n);
  if (!c->der) {
    free(c);
    return NULL;
  }
  memcpy(c->der, d, n);
  c->der_len = n;
  return c;
}

static int cert_set_subject(struct cert *c, const char *s) {
  char *dup = strdup(s);
  if (!dup)
    return 0;
  free(c->subject);
  c->subject = dup;
  return 1;
}

static void cert_free(struct cert *c) {
  if (!c)
    return;
  free(c->subject);
  free(c->der);
  free(c);
}

size_t length_of_bad(const unsigned char *d, size_t n) {
  struct cert *c = cert_new(d, n); // LEAK
  if (!c)
    return 0;
  n = c->der_len;
  free(c); // LOST
  return n;
}

size_t length_of_ok(const unsigned char *d, size_t n) {
  struct cert *c = cert_new(d, n);
  if (!c)
    return 0;
  n = c->der_len;
  cert_free(c);
  return n;
}

int subject_bad(const unsigned char *d, size_t n, const char *s) {
  struct cert *c = cert_new(d, n);
  if (!c)
    return -1;
  int ok = cert_set_subject(c, s); // LEAK
  free(c->der);
  free(c); // LOST
  return ok;
}

int subject_ok(const unsigned char *d, size_t n, const char *s) {
  struct cert *c = cert_new(d, n);
  if (!c)
    return -1;
  int ok = cert_set_subject(c, s);
  cert_free(c);
  return ok;
}
