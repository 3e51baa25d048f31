/* A buffer that a global holds and that a callee grows or replaces; a list that a global heads. */
#include <stdlib.h>
#include <string.h>

static char *buffer;
static size_t length, capacity;

static void make_room(size_t more) {
  if (!buffer) {
    capacity = more + 64;
    buffer = malloc(capacity);
    if (!buffer)
      exit(2);
    length = 0;
  } else if (length + more >= capacity) {
    capacity = length + more + 64;
    char *larger = realloc(buffer, capacity);
    if (!larger)
      exit(2);
    buffer = larger;
  }
}

static void put(const char *s) {
  make_room(strlen(s) + 1);
  while (*s) {
    make_room(2);
    buffer[length++] = *s++;
  }
  buffer[length] = 0;
}

void grown_by_callee_ok(const char *a, const char *b) {
  put(a);
  put(b);
  put(a);
}

void grown_by_callee_bad(const char *a, const char *b) {
  char *copy = strdup(b); // LEAK
  if (!copy)
    return;
  put(a);
  put(copy);
}

struct undo {
  struct undo *next;
  int what;
};

static struct undo *undos;

static struct undo *undo_new(int what) {
  struct undo *u = malloc(sizeof *u);
  if (!u)
    exit(2);
  u->what = what;
  u->next = NULL;
  return u;
}

static void undo_add(int what) {
  struct undo *u = undo_new(what);
  u->next = undos;
  undos = u;
}

void pushed_on_global_ok(void) {
  undo_add(1);
  undo_add(2);
  undo_add(3);
}

int pushed_on_global_bad(int n) {
  struct undo *u = undo_new(n); // LEAK
  undo_add(1);
  if (n > 3)
    return 1;
  u->next = undos;
  undos = u;
  return 0;
}
