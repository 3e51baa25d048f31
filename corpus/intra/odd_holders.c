/* Holders of unusual type: volatile pointers, flexible arrays, function-local compound literals, computed goto. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct msg {
  size_t len;
  char data[];
};

int volatile_bad(size_t n) {
  char *volatile p = malloc(n + 1); // LEAK
  if (!p)
    return -1;
  p[0] = 1;
  p = NULL; // LOST
  return 0;
}

int volatile_ok(size_t n) {
  char *volatile p = malloc(n + 1);
  if (!p)
    return -1;
  p[0] = 1;
  free(p);
  p = NULL;
  return 0;
}

size_t flexible_bad(const char *s) {
  size_t n = strlen(s);
  struct msg *m = malloc(sizeof *m + n + 1); // LEAK
  if (!m)
    return 0;
  m->len = n;
  memcpy(m->data, s, n + 1);
  return strlen(m->data);
}

size_t flexible_ok(const char *s) {
  size_t n = strlen(s);
  struct msg *m = malloc(sizeof *m + n + 1);
  if (!m)
    return 0;
  m->len = n;
  memcpy(m->data, s, n + 1);
  n = strlen(m->data);
  free(m);
  return n;
}

int literal_bad(const char *s) {
  struct {
    char *k;
    int v;
  } *it = &(typeof(*it)){strdup(s), 1}; // LEAK
  return it->v;
}

int literal_ok(const char *s) {
  struct {
    char *k;
    int v;
  } *it = &(typeof(*it)){strdup(s), 1};
  free(it->k);
  return it->v;
}

int dispatch_bad(unsigned op) {
  static void *const labels[] = {&&op_push, &&op_pop, &&op_halt};
  int *stack = malloc(64); // LEAK
  if (!stack)
    return -1;
  goto *labels[op % 3];
op_push:
  stack[0] = 1;
op_pop:
  free(stack);
  return 0;
op_halt:
  return 1;
}

int dispatch_ok(unsigned op) {
  static void *const labels[] = {&&op_push, &&op_pop, &&op_halt};
  int *stack = malloc(64);
  if (!stack)
    return -1;
  goto *labels[op % 3];
op_push:
  stack[0] = 1;
op_pop:
  free(stack);
  return 0;
op_halt:
  free(stack);
  return 1;
}

int as_integer_bad(size_t n) {
  uintptr_t handle = (uintptr_t)malloc(n); // LEAK
  if (handle == 0)
    return -1;
  handle = 0; // LOST
  return handle != 0;
}

int as_integer_ok(size_t n) {
  uintptr_t handle = (uintptr_t)malloc(n);
  if (handle == 0)
    return -1;
  free((void *)handle);
  handle = 0;
  return handle != 0;
}
