/* posix_memalign, aligned_alloc, reallocarray, strndup, calloc. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

int memalign_bad(size_t n) {
  void *page;
  if (posix_memalign(&page, 64, n) != 0) // LEAK
    return -1;
  memset(page, 0, n);
  return 0;
}

int memalign_ok(size_t n) {
  void *page;
  if (posix_memalign(&page, 64, n) != 0)
    return -1;
  memset(page, 0, n);
  free(page);
  return 0;
}

int memalign_inverted_bad(size_t n) {
  void *page = NULL;
  int err = posix_memalign(&page, 64, n); // LEAK
  if (err)
    free(page);
  return err;
}

int memalign_inverted_ok(size_t n) {
  void *page = NULL;
  int err = posix_memalign(&page, 64, n);
  if (!err)
    free(page);
  return err;
}

int aligned_bad(size_t n) {
  float *v = aligned_alloc(32, (n + 1) * 32); // LEAK
  if (v)
    v[0] = 1.0f;
  return v != NULL;
}

int aligned_ok(size_t n) {
  float *v = aligned_alloc(32, (n + 1) * 32);
  if (v)
    v[0] = 1.0f;
  free(v);
  return 0;
}

int array_bad(size_t n) {
  long *a = calloc(4, sizeof *a); // LEAK
  if (!a)
    return -1;
  long *b = reallocarray(a, n + 4, sizeof *a);
  if (!b)
    return -1;
  b[0] = 1;
  free(b);
  return 0;
}

int array_ok(size_t n) {
  long *a = calloc(4, sizeof *a);
  if (!a)
    return -1;
  long *b = reallocarray(a, n + 4, sizeof *a);
  if (!b) {
    free(a);
    return -1;
  }
  b[0] = 1;
  free(b);
  return 0;
}

int prefix_bad(const char *s, size_t n) {
  char *head = strndup(s, n); // LEAK
  if (head && head[0] == 'a')
    return 1;
  free(head);
  return 0;
}

int prefix_ok(const char *s, size_t n) {
  char *head = strndup(s, n);
  int a = head && head[0] == 'a';
  free(head);
  return a;
}
