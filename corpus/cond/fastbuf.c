/* A stack buffer for the common case, the heap for the rest. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int compared_bad(size_t len) {
  char fast[64], *p = fast;
  if (len > sizeof fast)
    p = malloc(len); // LEAK
  if (!p)
    return -1;
  p[0] = 'x';
  if (len > 2 * sizeof fast)
    free(p);
  return 0;
}

int compared_ok(size_t len) {
  char fast[64], *p = fast;
  if (len > sizeof fast)
    p = malloc(len);
  if (!p)
    return -1;
  p[0] = 'x';
  if (p != fast)
    free(p);
  return 0;
}

int separate_heap_pointer_bad(size_t len) {
  char small[32], *heap = NULL;
  char *w = len < sizeof small ? small : (heap = malloc(len)); // LEAK
  if (!w)
    return -1;
  w[0] = 0;
  if (len == sizeof small)
    heap = NULL;
  free(heap);
  return 0;
}

int separate_heap_pointer_ok(size_t len) {
  char small[32], *heap = NULL;
  char *w = len < sizeof small ? small : (heap = malloc(len));
  if (!w)
    return -1;
  w[0] = 0;
  if (len == sizeof small)
    w = NULL;
  free(heap);
  return 0;
}

struct line {
  char *p;
  size_t n;
  char own[24];
};

int inline_storage_bad(const char *s) {
  struct line l;
  l.n = strlen(s) + 1;
  l.p = l.n <= sizeof l.own ? l.own : malloc(l.n); // LEAK
  if (!l.p)
    return -1;
  memcpy(l.p, s, l.n);
  int c = l.p[0];
  if (l.p == l.own)
    l.p = NULL;
  if (l.n < sizeof l.own)
    free(l.p);
  return c;
}

int inline_storage_ok(const char *s) {
  struct line l;
  l.n = strlen(s) + 1;
  l.p = l.n <= sizeof l.own ? l.own : malloc(l.n);
  if (!l.p)
    return -1;
  memcpy(l.p, s, l.n);
  int c = l.p[0];
  if (l.p == l.own)
    l.p = NULL;
  free(l.p);
  return c;
}

int wrong_buffer_bad(size_t len) {
  char a[16], b[16], *p = a;
  b[0] = 0;
  if (len > sizeof a)
    p = malloc(len); // LEAK
  if (!p)
    return -1;
  p[0] = b[0];
  if (p == b)
    free(p);
  return 0;
}

int wrong_buffer_ok(size_t len) {
  char a[16], b[16], *p = a;
  b[0] = 0;
  if (len > sizeof a)
    p = malloc(len);
  if (!p)
    return -1;
  p[0] = b[0];
  if (p == b)
    return 1;
  if (p != a)
    free(p);
  return 0;
}

int grows_once_bad(const char *s) {
  char fast[8], *buf = fast;
  size_t cap = sizeof fast, len = 0;
  for (; *s; s++) {
    if (len + 1 >= cap) {
      if (buf != fast)
        break;
      buf = malloc(256); // LEAK
      if (!buf)
        return -1;
      memcpy(buf, fast, len);
      cap = 256;
    }
    buf[len++] = *s;
  }
  if (len > 100)
    free(buf);
  return (int)len;
}

int grows_once_ok(const char *s) {
  char fast[8], *buf = fast;
  size_t cap = sizeof fast, len = 0;
  for (; *s; s++) {
    if (len + 1 >= cap) {
      if (buf != fast)
        break;
      buf = malloc(256);
      if (!buf)
        return -1;
      memcpy(buf, fast, len);
      cap = 256;
    }
    buf[len++] = *s;
  }
  if (buf != fast)
    free(buf);
  return (int)len;
}
