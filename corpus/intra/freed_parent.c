/* The parent is released while a field still owns a block. */
#include <stdlib.h>
#include <string.h>

struct entry {
  int id;
  char *key;
  char *value;
};

int one_field_bad(const char *k, const char *v) {
  struct entry *e = malloc(sizeof(*e));
  if (e == NULL)
    return 0;
  e->key = strdup(k);
  e->value = strdup(v); // LEAK
  free(e->key);
  free(e); // LOST
  return 1;
}

int one_field_ok(const char *k, const char *v) {
  struct entry *e = malloc(sizeof(*e));
  if (e == NULL)
    return 0;
  e->key = strdup(k);
  e->value = strdup(v);
  free(e->key);
  free(e->value);
  free(e);
  return 1;
}

int all_fields_bad(const char *k, const char *v) {
  struct entry *e = calloc(1, sizeof(*e));
  if (e == NULL)
    return 0;
  e->key = strdup(k);   // LEAK
  e->value = strdup(v); // LEAK
  e->id = 7;
  free(e); // LOST
  return 1;
}

int all_fields_ok(const char *k, const char *v) {
  struct entry *e = calloc(1, sizeof(*e));
  if (e == NULL)
    return 0;
  e->key = strdup(k);
  e->value = strdup(v);
  e->id = 7;
  char *kept = e->key, *other = e->value;
  free(e);
  free(kept);
  free(other);
  return 1;
}

int pointer_table_bad(const char *s) {
  char **row = malloc(2 * sizeof *row);
  if (!row)
    return -1;
  row[0] = strdup(s);
  row[1] = strdup(s); // LEAK
  free(row[0]);
  free(row); // LOST
  return 0;
}

int pointer_table_ok(const char *s) {
  char **row = malloc(2 * sizeof *row);
  if (!row)
    return -1;
  row[0] = strdup(s);
  row[1] = strdup(s);
  free(row[0]);
  free(row[1]);
  free(row);
  return 0;
}
