/* Callbacks through library functions and through the project's own iterators. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct args {
  int id;
  int *result;
};

static void *thread_main(void *p) {
  struct args *a = p;
  if (a->result)
    *a->result = a->id;
  free(a);
  return NULL;
}

static int by_value(const void *x, const void *y) {
  return *(const int *)x - *(const int *)y;
}

static char *log_prefix;
static void forget_prefix(void) {
  free(log_prefix);
  log_prefix = NULL;
}

typedef int (*visit_fn)(void *ctx, const char *word);

static int each_word(const char *const *words, visit_fn fn, void *ctx) {
  for (; *words; words++)
    if (fn(ctx, *words))
      return 1;
  return 0;
}

static int remember_longest(void *ctx, const char *w) {
  char **best = ctx;
  if (!*best || strlen(w) > strlen(*best)) {
    free(*best);
    *best = strdup(w);
  }
  return 0;
}

int spawn_bad(int id, int *result) {
  pthread_t t;
  struct args *a = malloc(sizeof *a); // LEAK
  if (!a)
    return -1;
  a->id = id;
  a->result = result;
  if (pthread_create(&t, NULL, thread_main, a) != 0)
    return -1;
  return pthread_join(t, NULL);
}

int spawn_ok(int id, int *result) {
  pthread_t t;
  struct args *a = malloc(sizeof *a);
  if (!a)
    return -1;
  a->id = id;
  a->result = result;
  if (pthread_create(&t, NULL, thread_main, a) != 0) {
    free(a);
    return -1;
  }
  return pthread_join(t, NULL);
}

int median_bad(const int *v, size_t n) {
  int *w = malloc(n * sizeof *w); // LEAK
  if (!w)
    return 0;
  memcpy(w, v, n * sizeof *w);
  qsort(w, n, sizeof *w, by_value);
  return w[n / 2];
}

int median_ok(const int *v, size_t n) {
  int *w = malloc(n * sizeof *w);
  if (!w)
    return 0;
  memcpy(w, v, n * sizeof *w);
  qsort(w, n, sizeof *w, by_value);
  int m = w[n / 2];
  free(w);
  return m;
}

int at_exit_bad(const char *s) {
  char *prefix = strdup(s); // LEAK
  atexit(forget_prefix);
  return prefix != NULL;
}

int at_exit_ok(const char *s) {
  log_prefix = strdup(s);
  atexit(forget_prefix);
  return log_prefix != NULL;
}

size_t visitor_bad(const char *const *words) {
  char *best = NULL;
  each_word(words, remember_longest, &best); // LEAK
  return best ? strlen(best) : 0;
}

size_t visitor_ok(const char *const *words) {
  char *best = NULL;
  each_word(words, remember_longest, &best);
  size_t n = best ? strlen(best) : 0;
  free(best);
  return n;
}

/* The same code counts first and writes then, by the function that it is given. */
struct text {
  char *bytes;
  size_t size, at;
};

typedef int (*put_fn)(struct text *t, char c);

static int count_byte(struct text *t, char c) {
  (void)c;
  t->at++;
  return 1;
}

static int write_byte(struct text *t, char c) {
  if (t->at >= t->size)
    return 0;
  t->bytes[t->at++] = c;
  return 1;
}

static int filter(const char *from, struct text *t, put_fn put) {
  for (; *from; from++)
    if (*from != '/' && !put(t, *from))
      return 0;
  return 1;
}

char *filtered_bad(const char *from) {
  struct text t = {NULL, 0, 0};
  if (!filter(from, &t, count_byte))
    return NULL;
  t.bytes = calloc(t.at + 1, 1); // LEAK
  if (!t.bytes)
    return NULL;
  t.size = t.at;
  t.at = 0;
  if (!filter(from, &t, write_byte))
    return NULL;
  return t.bytes;
}

char *filtered_ok(const char *from) {
  struct text t = {NULL, 0, 0};
  if (!filter(from, &t, count_byte))
    return NULL;
  t.bytes = calloc(t.at + 1, 1);
  if (!t.bytes)
    return NULL;
  t.size = t.at;
  t.at = 0;
  if (!filter(from, &t, write_byte)) {
    free(t.bytes);
    return NULL;
  }
  return t.bytes;
}

/* One of the functions that are given keeps what it gets. */
typedef void (*use_fn)(char *name);

static char *last_name;

static void print_length(char *name) {
  if (strlen(name) > 80)
    abort();
}

static void keep_name(char *name) {
  free(last_name);
  last_name = name;
}

static void with_name(const char *name, use_fn use) {
  char *copy = strdup(name); // LEAK[missed]: one of the functions that may be meant keeps it
  if (copy)
    use(copy);
}

void names_ok(const char *name) {
  with_name(name, print_length);
  with_name(name, keep_name);
}
