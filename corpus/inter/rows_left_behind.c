/* Giving up in the middle of filling an array loses what the turns before have made. */
#include <stdlib.h>

int **rows_bad(int n, int m) {
  int **rows = malloc(n * sizeof *rows);
  if (!rows)
    return NULL;
  for (int i = 0; i < n; i++) {
    rows[i] = malloc(m * sizeof **rows); // LEAK
    if (!rows[i]) {
      free(rows);
      return NULL;
    }
  }
  return rows;
}

int **rows_ok(int n, int m) {
  int **rows = malloc(n * sizeof *rows);
  if (!rows)
    return NULL;
  for (int i = 0; i < n; i++) {
    rows[i] = malloc(m * sizeof **rows);
    if (!rows[i]) {
      while (i-- > 0)
        free(rows[i]);
      free(rows);
      return NULL;
    }
  }
  return rows;
}

/* All or nothing: there is only one. */
int **one_ok(int m) {
  int **rows = malloc(sizeof *rows);
  if (!rows)
    return NULL;
  rows[0] = malloc(m * sizeof **rows);
  if (!rows[0]) {
    free(rows);
    return NULL;
  }
  return rows;
}
