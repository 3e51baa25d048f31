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
  each_word(words, remember_longest, &best); // LEAK[missed]: the callback is called out of sight
  return best ? strlen(best) : 0;
}

size_t visitor_ok(const char *const *words) {
  char *best = NULL;
  each_word(words, remember_longest, &best);
  size_t n = best ? strlen(best) : 0;
  free(best);
  return n;
}
