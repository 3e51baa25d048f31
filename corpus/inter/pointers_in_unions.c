/* A function pointer in a union of a structure is one of those that were put there, and not whatever stands at the same offset of another
 * structure. */
#include <stdlib.h>
#include <string.h>

struct copier {
  void *owner;
  char *(*copy)(void *, const char *);
};

static char *copied(void *owner, const char *text) {
  (void)owner;
  return strdup(text);
}

char *use_copier(const char *text) {
  struct copier *copier = malloc(sizeof *copier);
  if (!copier)
    return NULL;
  copier->owner = NULL;
  copier->copy = copied;
  char *copy = copier->copy(copier->owner, text);
  free(copier);
  return copy;
}

struct option {
  const char *name;
  union {
    char *(*text)(void *, const char *);
    int (*number)(void *, const char *);
  } get;
  void *owner;
};

void set_getter(struct option *option, char *(*get)(void *, const char *)) {
  option->get.text = get;
}

size_t length_of_option_ok(struct option *option) {
  char *text = option->get.text(option->owner, option->name);
  return text ? strlen(text) : 0;
}
