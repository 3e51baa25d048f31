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

/* A mark instead of a block asks for a new one, as null does; blocks are moved. */
static const char *zeroed_mark = "zeroed";

static void *any_alloc(const void *old, size_t n) {
  void *p;
  if (!old)
    p = malloc(n);
  else if (old == zeroed_mark)
    p = calloc(n, 1);
  else
    p = realloc((void *)old, n);
  if (!p)
    abort();
  return p;
}

struct window {
  char *bytes;
  size_t size;
};

static char *window_at(struct window *w, size_t n) {
  if (n > w->size) {
    w->bytes = any_alloc(w->bytes, n);
    w->size = n;
  }
  return w->bytes;
}

static struct window *window_open(void) {
  struct window *w = any_alloc(zeroed_mark, sizeof *w);
  return w;
}

int marked_growth_bad(size_t n) {
  struct window *w = window_open();
  int first = 0;
  for (size_t i = 1; i < n; i++)
    first += window_at(w, i)[0]; // LEAK
  free(w);
  return first;
}

int marked_growth_ok(size_t n) {
  struct window *w = window_open();
  int first = 0;
  for (size_t i = 1; i < n; i++)
    first += window_at(w, i)[0];
  free(w->bytes);
  free(w);
  return first;
}

struct pane {
  char *bytes;
  size_t size;
};

struct pane *pane_new(void) { return any_alloc(zeroed_mark, sizeof(struct pane)); }

void pane_grow(struct pane *p, size_t n) {
  p->bytes = any_alloc(p->bytes, n); // LEAK D004
  p->size = n;
}

void pane_free_bad(struct pane *p) {
  free(p); // LOST
}

struct sheet {
  char *bytes;
  size_t size;
};

struct sheet *sheet_new(void) { return any_alloc(zeroed_mark, sizeof(struct sheet)); }

void sheet_grow(struct sheet *p, size_t n) {
  p->bytes = any_alloc(p->bytes, n);
  p->size = n;
}

void sheet_free_ok(struct sheet *p) {
  free(p->bytes);
  free(p);
}
