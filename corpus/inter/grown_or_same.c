/* Functions that give their argument back, or a larger block instead of it; the header stands before the text. */
#include <stdlib.h>
#include <string.h>

struct header {
  unsigned short used, room;
};

static struct header *header_of(char *s) {
  return (struct header *)(s - sizeof(struct header));
}

static char *text_new(size_t room) {
  struct header *h = malloc(sizeof *h + room + 1);
  if (!h)
    abort();
  h->used = 0;
  h->room = (unsigned short)room;
  return (char *)(h + 1);
}

static void text_free(char *s) {
  if (s == NULL)
    return;
  free(s - sizeof(struct header));
}

static char *text_grow(char *s, size_t more) {
  struct header *h = header_of(s);
  if ((size_t)(h->room - h->used) >= more)
    return s;
  h = realloc(h, sizeof *h + h->used + more + 1);
  if (!h)
    abort();
  h->room = (unsigned short)(h->used + more);
  return (char *)(h + 1);
}

static char *text_add(char *s, const char *t) {
  size_t n = strlen(t);
  s = text_grow(s, n);
  memcpy(s + header_of(s)->used, t, n + 1);
  header_of(s)->used += (unsigned short)n;
  return s;
}

size_t concatenated_ok(const char *a, const char *b) {
  char *s = text_new(4);
  s = text_add(s, a);
  s = text_add(s, b);
  size_t n = header_of(s)->used;
  text_free(s);
  return n;
}

size_t concatenated_bad(const char *a, const char *b) {
  char *s = text_new(4); // LEAK
  s = text_add(s, a);    // LEAK
  if (header_of(s)->used > 100)
    return 0;
  s = text_add(s, b);
  size_t n = header_of(s)->used;
  text_free(s);
  return n;
}

struct numbers {
  int *all;
  int room, count;
};

static struct numbers *numbers_new(int room) {
  struct numbers *n = malloc(sizeof *n);
  if (!n)
    abort();
  n->all = malloc((size_t)room * sizeof(int));
  if (!n->all)
    abort();
  n->room = room;
  n->count = 0;
  return n;
}

/* Allocates for a null pointer only. */
static struct numbers *numbers_add(struct numbers *n, int v) {
  if (!n)
    n = numbers_new(8);
  if (n->count < n->room)
    n->all[n->count++] = v;
  return n;
}

static void numbers_free(struct numbers *n) {
  if (!n)
    return;
  free(n->all);
  free(n);
}

int made_on_first_use_ok(int f) {
  struct numbers *n = NULL;
  if (f & 1)
    n = numbers_add(n, 1);
  if (f & 2)
    n = numbers_add(n, 2);
  int count = n ? n->count : 0;
  numbers_free(n);
  return count;
}

int made_on_first_use_bad(int f) {
  struct numbers *n = numbers_add(NULL, f); // LEAK x2
  if (f > 3)
    return -1;
  n = numbers_add(n, 2);
  int count = n->count;
  numbers_free(n);
  return count;
}

static char *quoted(char *s, int quote) {
  if (!quote)
    return s;
  char *q = malloc(strlen(s) + 3);
  if (!q)
    abort();
  q[0] = '"';
  strcpy(q + 1, s);
  strcat(q, "\"");
  return q;
}

size_t compared_with_the_old_ok(char *s, int quote) {
  char *q = quoted(s, quote);
  size_t n = strlen(q);
  if (q != s)
    free(q);
  return n;
}

size_t compared_with_the_old_bad(char *s, int quote) {
  char *q = quoted(s, quote); // LEAK
  size_t n = strlen(q);
  if (q == s)
    return 0;
  return n;
}

void *moved(void *p, size_t n) {
  return realloc(p, n);
}

int contents_move_along_ok(void) {
  char **a = malloc(sizeof *a);
  if (!a)
    return 1;
  a[0] = malloc(4);
  char **b = moved(a, 2 * sizeof *b);
  if (!b) {
    free(a[0]);
    free(a);
    return 1;
  }
  free(b[0]);
  free(b);
  return 0;
}

int contents_move_along_bad(void) {
  char **a = malloc(sizeof *a); // LEAK
  if (!a)
    return 1;
  char **b = moved(a, 2 * sizeof *b);
  if (!b)
    return 1;
  free(b);
  return 0;
}
