/* alloca and variable-length arrays are stack memory, but may hold heap blocks. */
#include <alloca.h>
#include <stdlib.h>
#include <string.h>

int scratch_bad(const char *s) {
  char *tmp = malloc(strlen(s) + 1); // LEAK
  if (!tmp)
    return 0;
  strcpy(tmp, s);
  return tmp[0];
}

int scratch_ok(const char *s) {
  char *tmp = alloca(strlen(s) + 1);
  if (!tmp)
    return 0;
  strcpy(tmp, s);
  return tmp[0];
}

int vla_bad(const char *s, unsigned n) {
  char *names[n % 16 + 2];
  names[0] = strdup(s);
  names[1] = strdup(s); // LEAK
  int r = names[0] && names[1];
  free(names[0]);
  return r;
}

int vla_ok(const char *s, unsigned n) {
  char *names[n % 16 + 2];
  names[0] = strdup(s);
  names[1] = strdup(s);
  int r = names[0] && names[1];
  free(names[0]);
  free(names[1]);
  return r;
}

int holder_in_alloca_bad(size_t n) {
  char **cell = alloca(sizeof *cell);
  *cell = malloc(n); // LEAK
  return *cell != NULL;
}

int holder_in_alloca_ok(size_t n) {
  char **cell = alloca(sizeof *cell);
  *cell = malloc(n);
  free(*cell);
  return 0;
}
