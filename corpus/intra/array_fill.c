/* Arrays of pointers that loops fill and release. */
#include <stdlib.h>
#include <string.h>

int fill_bad(const char *s) {
  char *v[4];
  int i;
  for (i = 0; i < 4; i++)
    v[i] = strdup(s); // LEAK
  return v[0] != NULL;
}

int fill_ok(const char *s) {
  char *v[4];
  int i;
  for (i = 0; i < 4; i++)
    v[i] = strdup(s);
  for (i = 0; i < 4; i++)
    free(v[i]);
  return 0;
}

int partial_bad(void) {
  int *rows[8];
  int i, j;
  for (i = 0; i < 8; i++) {
    rows[i] = malloc(8 * sizeof(int)); // LEAK
    if (!rows[i])
      return -1;
  }
  for (j = 0; j < 8; j++)
    free(rows[j]);
  return 0;
}

int partial_ok(void) {
  int *rows[8];
  int i, j;
  for (i = 0; i < 8; i++) {
    rows[i] = malloc(8 * sizeof(int));
    if (!rows[i]) {
      while (--i >= 0)
        free(rows[i]);
      return -1;
    }
  }
  for (j = 0; j < 8; j++)
    free(rows[j]);
  return 0;
}

int matrix_bad(int n) {
  double **m = calloc(n, sizeof *m);
  if (!m)
    return -1;
  for (int i = 0; i < n; i++)
    m[i] = malloc(n * sizeof **m); // LEAK
  free(m); // LOST
  return 0;
}

int matrix_ok(int n) {
  double **m = calloc(n, sizeof *m);
  if (!m)
    return -1;
  for (int i = 0; i < n; i++)
    m[i] = malloc(n * sizeof **m);
  for (int i = 0; i < n; i++)
    free(m[i]);
  free(m);
  return 0;
}
