/* Modes in bit masks. */
#include <stdlib.h>
#include <string.h>

#define F_COPY 0x01u
#define F_TRIM 0x02u
#define F_OWNED 0x10u

int same_bit_bad(const char *s, unsigned flags) {
  char *p = (char *)s;
  if (flags & F_COPY)
    p = strdup(s); // LEAK
  int c = p ? p[0] : 0;
  if (flags & F_TRIM)
    c++;
  if ((flags & (F_COPY | F_TRIM)) == F_COPY)
    free(p);
  return c;
}

int same_bit_ok(const char *s, unsigned flags) {
  char *p = (char *)s;
  if (flags & F_COPY)
    p = strdup(s);
  int c = p ? p[0] : 0;
  if (flags & F_TRIM)
    c++;
  if ((flags & F_COPY) == F_COPY)
    free(p);
  return c;
}

void either_bit_bad(unsigned flags) {
  char *w = NULL;
  if (flags & (F_COPY | F_TRIM))
    w = malloc(10); // LEAK
  if (flags & F_COPY)
    free(w);
}

void either_bit_ok(unsigned flags) {
  char *w = NULL;
  if (flags & (F_COPY | F_TRIM))
    w = malloc(10);
  if ((flags & F_COPY) || (flags & F_TRIM))
    free(w);
}

void bit_set_bad(unsigned flags, int n) {
  char *w = malloc(10); // LEAK
  flags &= ~F_OWNED;
  if (w && n > 3)
    flags |= F_OWNED;
  if (flags & F_OWNED)
    free(w);
}

void bit_set_ok(unsigned flags, int n) {
  char *w = malloc(10);
  flags &= ~F_OWNED;
  if (w)
    flags |= F_OWNED | (n > 3 ? F_TRIM : 0);
  if (flags & F_OWNED)
    free(w);
}

void bit_cleared_bad(unsigned flags) {
  char *w = NULL;
  if (flags & F_TRIM)
    w = malloc(10); // LEAK
  flags &= ~(F_TRIM | F_COPY);
  if (flags & F_TRIM)
    free(w);
}

void bit_cleared_ok(unsigned flags) {
  char *w = NULL;
  if (flags & F_TRIM)
    w = malloc(10);
  flags &= ~F_COPY;
  if (flags & F_TRIM)
    free(w);
}

void shifted_bad(unsigned x) {
  int *p = NULL;
  if ((x >> 4) & 1)
    p = malloc(4); // LEAK
  if (x & 8)
    free(p);
}

void shifted_ok(unsigned x) {
  int *p = NULL;
  if ((x >> 4) & 1)
    p = malloc(4);
  if (x & 16)
    free(p);
}

void field_in_mask_bad(unsigned mode) {
  char *p = NULL;
  if ((mode & 3) >= 2)
    p = malloc(4); // LEAK
  if ((mode & 3) == 2)
    free(p);
}

void field_in_mask_ok(unsigned mode) {
  char *p = NULL;
  if ((mode & 3) >= 2)
    p = malloc(4);
  if (mode & 2)
    free(p);
}

void xor_toggle_bad(unsigned f) {
  char *p = NULL;
  if (f & 4)
    p = malloc(4); // LEAK
  f ^= 4;
  if (f & 4)
    free(p);
}

void xor_toggle_ok(unsigned f) {
  char *p = NULL;
  if (f & 4)
    p = malloc(4);
  f ^= 4;
  if (!(f & 4))
    free(p);
}
