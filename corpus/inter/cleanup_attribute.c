/* __attribute__((cleanup)): the compiler calls the deallocator at the end of the scope. */
#include <stdlib.h>
#include <string.h>

static void freep(void *p) {
  free(*(void **)p);
}

#define _cleanup_free_ __attribute__((cleanup(freep)))

static void *steal(void *pp) {
  void **p = pp, *r = *p;
  *p = NULL;
  return r;
}

struct file {
  char *path;
  int fd;
};

static void file_done(struct file *f) {
  free(f->path);
}

int scoped_bad(const char *s, int n) {
  char *t = strdup(s); // LEAK
  if (!t)
    return -1;
  if (n > 5)
    return t[0];
  return n;
}

int scoped_ok(const char *s, int n) {
  _cleanup_free_ char *t = strdup(s);
  if (!t)
    return -1;
  if (n > 5)
    return t[0];
  return n;
}

char *stolen_bad(const char *s) {
  _cleanup_free_ char *a = strdup(s);
  char *b = strdup(s); // LEAK
  if (!a || !b)
    return NULL;
  free(b);
  return steal(&a);
}

char *stolen_ok(const char *s) {
  _cleanup_free_ char *a = strdup(s);
  _cleanup_free_ char *b = strdup(s);
  if (!a || !b)
    return NULL;
  return steal(&a);
}

int struct_scope_bad(const char *s) {
  __attribute__((cleanup(file_done))) struct file f = {NULL, -1};
  f.path = strdup(s); // LEAK
  if (f.path && f.path[0] == '-')
    f.path = NULL; // LOST
  return f.fd;
}

int struct_scope_ok(const char *s) {
  __attribute__((cleanup(file_done))) struct file f = {NULL, -1};
  f.path = strdup(s);
  if (f.path && f.path[0] == '-')
    f.fd = 0;
  return f.fd;
}

int in_loop_bad(int n) {
  int sum = 0;
  for (int i = 0; i < n; i++) {
    _cleanup_free_ int *slot = malloc(sizeof *slot); // LEAK
    if (!slot)
      break;
    *slot = i;
    if (i == 3)
      slot = NULL; // LOST
    sum += i;
  }
  return sum;
}

int in_loop_ok(int n) {
  int sum = 0;
  for (int i = 0; i < n; i++) {
    _cleanup_free_ int *slot = malloc(sizeof *slot);
    if (!slot)
      break;
    *slot = i;
    if (i == 3)
      continue;
    sum += i;
  }
  return sum;
}
