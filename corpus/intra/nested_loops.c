/* break leaves only the inner loop, goto and return leave both. */
#include <stdlib.h>
#include <string.h>

int search_rows_bad(char **rows, int n, char c) {
  int hits = 0;
  for (int i = 0; i < n; i++) {
    char *row = strdup(rows[i]); // LEAK
    if (!row)
      return -1;
    for (char *p = row; *p; p++) {
      if (*p == c)
        return hits + 1;
      hits++;
    }
    free(row);
  }
  return 0;
}

int search_rows_ok(char **rows, int n, char c) {
  int hits = 0;
  for (int i = 0; i < n; i++) {
    char *row = strdup(rows[i]);
    if (!row)
      return -1;
    for (char *p = row; *p; p++) {
      if (*p == c)
        break;
      hits++;
    }
    free(row);
  }
  return hits;
}

int inner_scratch_bad(int h, int w) {
  for (int y = 0; y < h; y++) {
    for (int x = 0; x < w; x++) {
      int *cell = malloc(sizeof *cell); // LEAK
      if (!cell)
        goto out;
      *cell = x * y;
      if (*cell > 1000)
        goto out;
      free(cell);
    }
  }
out:
  return 0;
}

int inner_scratch_ok(int h, int w) {
  for (int y = 0; y < h; y++) {
    for (int x = 0; x < w; x++) {
      int *cell = malloc(sizeof *cell);
      if (!cell)
        goto out;
      *cell = x * y;
      if (*cell > 1000) {
        free(cell);
        goto out;
      }
      free(cell);
    }
  }
out:
  return 0;
}
