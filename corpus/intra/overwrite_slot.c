/* Slots of arrays with constant indices. */
#include <stdlib.h>
#include <string.h>

int slot_twice_bad(const char *a, const char *b) {
  char *argv[3] = {NULL, NULL, NULL};
  argv[0] = strdup(a);
  argv[1] = strdup(a); // LEAK
  argv[1] = strdup(b); // LOST
  free(argv[0]);
  free(argv[1]);
  return argv[2] == NULL;
}

int slot_twice_ok(const char *a, const char *b) {
  char *argv[3] = {NULL, NULL, NULL};
  argv[0] = strdup(a);
  argv[1] = strdup(a);
  argv[2] = strdup(b);
  free(argv[0]);
  free(argv[1]);
  free(argv[2]);
  return 0;
}

int wrong_slot_bad(const char *s) {
  char *pair[2];
  pair[0] = strdup(s);
  pair[1] = strdup(s); // LEAK
  free(pair[0]);
  pair[0] = NULL;
  free(pair[0]);
  return pair[1] != NULL;
}

int wrong_slot_ok(const char *s) {
  char *pair[2];
  pair[0] = strdup(s);
  pair[1] = strdup(s);
  free(pair[0]);
  pair[0] = NULL;
  free(pair[1]);
  return pair[0] != NULL;
}

int heap_table_bad(size_t n) {
  char **tab = calloc(4, sizeof *tab);
  if (!tab)
    return -1;
  tab[2] = malloc(n); // LEAK
  tab[3] = malloc(n);
  tab[2] = tab[3]; // LOST
  free(tab[3]);
  free(tab);
  return 0;
}

int heap_table_ok(size_t n) {
  char **tab = calloc(4, sizeof *tab);
  if (!tab)
    return -1;
  tab[2] = malloc(n);
  tab[3] = malloc(n);
  free(tab[2]);
  tab[2] = tab[3];
  free(tab[2]);
  free(tab);
  return 0;
}
