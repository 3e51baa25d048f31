/* Allocators that wrap malloc, and wrappers of wrappers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void out_of_memory(size_t n) {
  fprintf(stderr, "fatal: out of memory, allocating %zu bytes\n", n);
  exit(128);
}

void *xmalloc(size_t n) {
  void *p = malloc(n ? n : 1);
  if (!p)
    out_of_memory(n);
  return p;
}

void *xzalloc(size_t n) {
  void *p = xmalloc(n);
  memset(p, 0, n);
  return p;
}

char *xstrdup(const char *s) {
  size_t n = strlen(s) + 1;
  return memcpy(xmalloc(n), s, n);
}

void *try_alloc(size_t n) {
  if (n > 4096)
    return NULL;
  return malloc(n);
}

void xfree(void *p) {
  if (p)
    free(p);
}

int via_xmalloc_bad(int n) {
  char *a = xmalloc(n);
  char *b = xmalloc(n); // LEAK
  a[0] = b[0] = 0;
  xfree(a);
  return n;
}

int via_xmalloc_ok(int n) {
  char *a = xmalloc(n);
  char *b = xmalloc(n);
  a[0] = b[0] = 0;
  xfree(a);
  xfree(b);
  return n;
}

int via_xstrdup_bad(const char *s, int keep) {
  char *t = xstrdup(s); // LEAK
  if (!keep)
    xfree(t);
  return keep;
}

int via_xstrdup_ok(const char *s, int keep) {
  char *t = xstrdup(s);
  if (keep)
    puts(t);
  xfree(t);
  return keep;
}

int via_try_alloc_bad(size_t n) {
  char *p = try_alloc(n);
  if (!p)
    return -1;
  char *q = try_alloc(n); // LEAK
  if (!q) {
    free(p);
    return -1;
  }
  free(p);
  return q != NULL;
}

int via_try_alloc_ok(size_t n) {
  char *p = try_alloc(n);
  if (!p)
    return -1;
  char *q = try_alloc(n);
  if (!q) {
    free(p);
    return -1;
  }
  free(p);
  free(q);
  return 0;
}

int zeroed_bad(unsigned i) {
  int *tab = xzalloc(64 * sizeof *tab); // LEAK
  int v = tab[i & 63];
  tab = NULL; // LOST
  xfree(tab);
  return v;
}

int zeroed_ok(unsigned i) {
  int *tab = xzalloc(64 * sizeof *tab);
  int v = tab[i & 63];
  xfree(tab);
  tab = NULL;
  xfree(tab);
  return v;
}
