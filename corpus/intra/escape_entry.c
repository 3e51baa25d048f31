/* A block stored into memory that the caller sees is the caller's; into a copy of it, it is not. */
#include <stdlib.h>
#include <string.h>

struct user {
  char *name;
  struct {
    char *shell;
    int uid;
  } sys;
  struct user *peer;
};

int into_field_bad(struct user *u, const char *s) {
  struct user copy = *u;
  copy.name = strdup(s); // LEAK
  if (!copy.name)
    return -1;
  return copy.sys.uid;
}

int into_field_ok(struct user *u, const char *s) {
  struct user *self = u;
  self->name = strdup(s);
  if (!self->name)
    return -1;
  return self->sys.uid;
}

int nested_field_bad(struct user *u, const char *s) {
  char *sh = strdup(s); // LEAK
  if (!sh)
    return -1;
  if (u->sys.uid == 0)
    return 1;
  u->sys.shell = sh;
  return 0;
}

int nested_field_ok(struct user *u, const char *s) {
  char *sh = strdup(s);
  if (!sh)
    return -1;
  if (u->sys.uid == 0) {
    free(sh);
    return 1;
  }
  u->sys.shell = sh;
  return 0;
}

int linked_bad(struct user *u) {
  struct user *n = calloc(1, sizeof *n); // LEAK
  if (!n)
    return -1;
  n->peer = u->peer;
  return n->peer != NULL;
}

int linked_ok(struct user *u) {
  struct user *n = calloc(1, sizeof *n);
  if (!n)
    return -1;
  n->peer = u->peer;
  u->peer = n;
  return n->peer != NULL;
}

int stored_then_taken_back_bad(struct user *u, const char *s) {
  u->name = strdup(s); // LEAK
  if (u->name && u->name[0] == '-') {
    u->name = NULL; // LOST
    return -1;
  }
  return 0;
}

int stored_then_taken_back_ok(struct user *u, const char *s) {
  u->name = strdup(s);
  if (u->name && u->name[0] == '-') {
    free(u->name);
    u->name = NULL;
    return -1;
  }
  return 0;
}
