/* Allocators behind global function pointers that a setter may replace. */
#include <stdlib.h>
#include <string.h>

typedef void *(*malloc_hook)(size_t);
typedef void (*free_hook)(void *);

malloc_hook lib_malloc = malloc;
free_hook lib_free = free;
static char *(*lib_strdup)(const char *) = strdup;

int lib_set_memory(malloc_hook m, free_hook f) {
  if (!m || !f)
    return -1;
  lib_malloc = m;
  lib_free = f;
  return 0;
}

#define NEW(type) ((type *)lib_malloc(sizeof(type)))
#define DROP(p) lib_free(p)

static struct {
  void *(*alloc)(size_t);
  void (*release)(void *);
} mem = {malloc, free};

struct easy {
  int state;
  long opt;
};

int hooked_bad(int state) {
  struct easy *e = NEW(struct easy); // LEAK
  if (!e)
    return -1;
  e->state = state;
  if (e->state == 3)
    return 3;
  DROP(e);
  return 0;
}

int hooked_ok(int state) {
  struct easy *e = NEW(struct easy);
  if (!e)
    return -1;
  e->state = state;
  if (e->state == 3) {
    DROP(e);
    return 3;
  }
  DROP(e);
  return 0;
}

int never_replaced_bad(const char *s) {
  char *t = lib_strdup(s); // LEAK
  return t ? t[0] : -1;
}

int never_replaced_ok(const char *s) {
  char *t = lib_strdup(s);
  int c = t ? t[0] : -1;
  lib_free(t);
  return c;
}

int hook_struct_bad(size_t n) {
  char *a = mem.alloc(n);
  char *b = mem.alloc(n); // LEAK
  if (!a || !b) {
    mem.release(a);
    mem.release(b);
    return -1;
  }
  mem.release(a);
  return b == NULL;
}

int hook_struct_ok(size_t n) {
  char *a = mem.alloc(n);
  char *b = mem.alloc(n);
  if (!a || !b) {
    mem.release(a);
    mem.release(b);
    return -1;
  }
  mem.release(a);
  mem.release(b);
  return 0;
}
