// A pointer that is found in memory and handed on, to a function that asks whether it is null.
#include <stdlib.h>
#include <string.h>

struct element {
  struct element *next;
  struct element *children;
  char *text;
};

struct writer {
  struct element *root, *current;
};

static struct element *element_new(struct element *parent) {
  struct element *e = malloc(sizeof *e);
  if (!e)
    abort();
  e->text = NULL;
  e->children = NULL;
  e->next = NULL;
  if (parent) {
    e->next = parent->children;
    parent->children = e;
  }
  return e;
}

void start(struct writer *w) { w->root = w->current = element_new(NULL); }

void text_ok(struct writer *w, const char *text) {
  struct element *e = element_new(w->current);
  e->text = strdup(text);
}

// Here somebody says that it may be null.
void text_bad(struct writer *w, char *text) {
  struct element *parent = w->current;
  struct element *e = element_new(parent); // LEAK D002
  e->text = text;
  if (!parent)
    return;
  w->current = e;
}

void end(struct writer *w) {
  struct element *e = w->root;
  while (e) {
    struct element *next = e->next ? e->next : e->children;
    free(e->text);
    free(e);
    e = next;
  }
  w->root = NULL;
}
