/* A parent lost together with children that nothing else reaches is one finding. */
#include <stdlib.h>
#include <string.h>

struct person {
  char *name;
  struct person *boss;
};

struct person *hire_bad(const char *name, int grade) {
  struct person *p = calloc(1, sizeof *p); // LEAK
  if (!p)
    return NULL;
  p->name = strdup(name);
  p->boss = calloc(1, sizeof *p);
  if (grade < 0)
    return NULL;
  return p;
}

struct person *hire_ok(const char *name, int grade) {
  if (grade < 0)
    return NULL;
  struct person *p = calloc(1, sizeof *p);
  if (!p)
    return NULL;
  p->name = strdup(name);
  p->boss = calloc(1, sizeof *p);
  return p;
}

int double_pointer_bad(const char *s) {
  char **pp = malloc(sizeof *pp);
  if (!pp)
    return -1;
  *pp = strdup(s); // LEAK
  free(pp);        // LOST
  return 0;
}

int double_pointer_ok(const char *s) {
  char **pp = malloc(sizeof *pp);
  if (!pp)
    return -1;
  *pp = (char *)s;
  free(pp);
  return 0;
}
