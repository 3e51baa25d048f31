// Destructors and setters that look at a field first: who calls them relies on what the constructor has put there.
#include <stdlib.h>
#include <string.h>

#define MAGIC 0x4242

struct handle {
  int magic;
  int flags;
  char *name;
};

int handle_load(struct handle *h);

// The result tells that the handle is none; nobody looks at it.
static int handle_close(struct handle *h) {
  if (h->magic != MAGIC)
    return -1;
  free(h->name);
  free(h);
  return 0;
}

int closed_ok(void) {
  struct handle *h = calloc(1, sizeof *h);
  if (!h)
    return -1;
  h->magic = MAGIC;
  int r = handle_load(h);
  handle_close(h);
  return r;
}

int not_closed_bad(int quick) {
  struct handle *h = calloc(1, sizeof *h); // LEAK
  if (!h)
    return -1;
  h->magic = MAGIC;
  if (quick)
    return 0;
  handle_close(h);
  return 1;
}

// The field is known not to be what the destructor wants.
int wrong_magic_bad(void) {
  struct handle *h = calloc(1, sizeof *h); // LEAK
  if (!h)
    return -1;
  h->magic = 1;
  handle_close(h);
  return 0;
}

// Frees the name only if it has one of its own.
static void handle_reset(struct handle *h) {
  if (h->flags & 1)
    free(h->name);
  h->name = NULL;
}

int reset_ok(struct handle *h, const char *s) {
  h->name = strdup(s);
  handle_load(h);
  handle_reset(h);
  return h->flags;
}

int reset_bad(struct handle *h, const char *s) {
  h->name = strdup(s); // LEAK
  h->flags = 0;
  handle_reset(h);
  return h->flags;
}

// Never frees it.
static void handle_clear(struct handle *h) { h->name = NULL; }

int clear_bad(struct handle *h, const char *s) {
  h->name = strdup(s); // LEAK
  handle_clear(h);
  return h->flags;
}
