/* What belongs together inside of a callee, and comes apart in its summary: the callee is executed before anything is said. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Null is returned only before the copy is made; later the result is somewhere in the argument. */
static char *token(char *s, char **copy) {
  if (*s == '\0')
    return NULL;
  *copy = malloc(strlen(s) + 1);
  if (!*copy)
    abort();
  char *to = *copy;
  while (*s && !isspace((unsigned char)*s))
    *to++ = *s++;
  *to = '\0';
  return s;
}

int token_ok(char *s) {
  char *copy = NULL;
  s = token(s, &copy);
  if (!s)
    return -1;
  int n = (int)strlen(copy);
  free(copy);
  return n;
}

int token_bad(char *s) {
  char *copy = NULL;
  s = token(s, &copy); // LEAK
  if (!s)
    return -1;
  if (*s == ';')
    return 0; // LOST
  free(copy);
  return 1;
}

/* A length that can't be zero says that there is a buffer. */
static char *names;
static size_t names_len;

static long list_names(const char *path, size_t room) {
  return path && room ? (long)strlen(path) : -1;
}

int read_names_ok(const char *path) {
  for (;;) {
    long len = list_names(path, names_len);
    if (len < 0)
      return -1;
    if ((size_t)len < names_len)
      return 0;
    if (names_len)
      free(names);
    names_len = (size_t)len + 1024;
    names = malloc(names_len);
    if (!names)
      abort();
  }
}

/* A new list keeps every element that it is given; only one that is in use refuses. */
struct link {
  struct link *next;
};

struct extra {
  struct link mounts;
  int kind;
};

struct table {
  struct link *first;
};

static struct extra *extra_new(void) {
  struct extra *e = calloc(1, sizeof *e);
  if (e)
    e->mounts.next = &e->mounts;
  return e;
}

static int table_add(struct table *t, struct extra *e) {
  if (e->mounts.next != &e->mounts)
    return -1;
  e->mounts.next = t->first;
  t->first = &e->mounts;
  return 0;
}

int add_extra_ok(struct table *t) {
  struct extra *e = extra_new();
  if (!e)
    return -1;
  int rc = table_add(t, e);
  if (rc)
    return rc;
  return 0;
}

int add_extra_bad(struct table *t, int kind) {
  struct extra *e = extra_new(); // LEAK
  if (!e)
    return -1;
  if (kind < 0)
    return kind; // LOST
  e->kind = kind;
  return table_add(t, e);
}

/* The function's result is its error, and no success is negative. */
static int decode(const char *in, char **out) {
  size_t n = strlen(in);
  if (n % 4)
    return -1;
  char *buf = malloc(n + 1);
  if (!buf)
    return -1;
  memcpy(buf, in, n + 1);
  *out = buf;
  return (int)(n & 0xff);
}

int decode_ok(const char *in) {
  char *out = NULL;
  int n = decode(in, &out);
  if (n < 0)
    return -1;
  free(out);
  return n;
}

int decode_bad(const char *in) {
  char *out = NULL;
  int n = decode(in, &out); // LEAK
  if (n <= 0)
    return -1; // LOST
  free(out);
  return n;
}

/* An insertion that fails when there is no memory, and nobody asks. */
struct node {
  struct node *next;
  char *key;
};

static struct node *all;

static int insert(char *key) {
  struct node *n = malloc(sizeof *n);
  if (!n)
    return -1;
  n->key = key;
  n->next = all;
  all = n;
  return 0;
}

void insert_bad(const char *s) {
  char *key = strdup(s); // LEAK
  if (!key)
    return;
  insert(key);
}

void insert_ok(const char *s) {
  char *key = strdup(s);
  if (!key)
    return;
  if (insert(key) < 0)
    free(key);
}

/* The way of the shown path is not the only one: a detail on it may be impossible. */
typedef void (*action)(void);
static void beep(void) {}
static void other(void) {}

static int is_common(action a) {
  return a == other;
}

struct binding {
  action run;
  char *text;
  int key;
};

int bind_bad(const char *s, int key, int mask) {
  struct binding *b = malloc(sizeof *b);
  if (!b)
    return -1;
  b->run = beep;
  b->text = strdup(s); // LEAK D004
  if (is_common(b->run))
    mask &= 1;
  else if (b->run == beep)
    mask &= 7;
  if (!mask || key == 27) {
    free(b); // LOST
    return 0;
  }
  b->key = key;
  free(b->text);
  free(b);
  return 1;
}
