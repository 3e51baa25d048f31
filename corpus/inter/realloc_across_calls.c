/* Growing buffers behind functions: who owns the old block when growing fails? */
#include <stdlib.h>
#include <string.h>

struct buf {
  char *data;
  size_t len, cap;
};

static int buf_grow(struct buf *b, size_t need) {
  if (need <= b->cap)
    return 0;
  char *p = realloc(b->data, need);
  if (!p)
    return -1;
  b->data = p;
  b->cap = need;
  return 0;
}

static char *resize_or_null(char *p, size_t n) {
  return realloc(p, n);
}

static char *resize_or_free(char *p, size_t n) {
  char *q = realloc(p, n);
  if (!q)
    free(p);
  return q;
}

static int append_char(char **s, size_t *len, char c) {
  char *t = realloc(*s, *len + 2);
  if (!t) {
    free(*s);
    *s = NULL;
    return 0;
  }
  t[(*len)++] = c;
  t[*len] = '\0';
  *s = t;
  return 1;
}

int grown_struct_bad(unsigned n) {
  struct buf b = {malloc(16), 0, 16}; // LEAK
  if (!b.data)
    return -1;
  if (buf_grow(&b, n + 64L) < 0)
    return -1;
  free(b.data);
  return 0;
}

int grown_struct_ok(unsigned n) {
  struct buf b = {malloc(16), 0, 16};
  if (!b.data)
    return -1;
  if (buf_grow(&b, n + 64L) < 0) {
    free(b.data);
    return -1;
  }
  free(b.data);
  return 0;
}

int resized_bad(unsigned n) {
  char *p = malloc(8); // LEAK
  if (!p)
    return -1;
  p = resize_or_null(p, n + 8L); // LOST
  if (!p)
    return -1;
  free(p);
  return 0;
}

int resized_ok(unsigned n) {
  char *p = malloc(8);
  if (!p)
    return -1;
  p = resize_or_free(p, n + 8L);
  if (!p)
    return -1;
  free(p);
  return 0;
}

int built_up_bad(const char *in) {
  char *out = NULL;
  size_t len = 0;
  if (!append_char(&out, &len, in[0])) // LEAK
    return -1;
  if (in[0] == 'q')
    return 1;
  free(out);
  return 0;
}

int built_up_ok(const char *in) {
  char *out = NULL;
  size_t len = 0;
  if (!append_char(&out, &len, in[0]))
    return -1;
  free(out);
  if (in[0] == 'q')
    return 1;
  return 0;
}
