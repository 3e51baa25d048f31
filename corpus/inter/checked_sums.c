// Errors are counted by a sum that is checked for overflow, as compilers make of every sum if asked for it. It is a sum all the same.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int read_ok(const char *line, int *value) {
  char *copy = strdup(line);
  if (!copy)
    return -1;
  if (copy[0] == '#')
    return -1;
  *value = atoi(copy);
  free(copy);
  return 0;
}

static int read_bad(const char *line, int *value) {
  char *copy = strdup(line); // LEAK D002
  if (!copy)
    return -1;
  if (copy[0] == '#')
    return -1;
  *value = atoi(copy);
  free(copy);
  return 0;
}

int sum_or_end(FILE *file) {
  char line[80];
  int errors = 0, sum = 0, value = 0;
  while (fgets(line, sizeof line, file)) {
    if (read_ok(line, &value) != 0) {
      if (__builtin_sadd_overflow(errors, 1, &errors))
        abort();
    } else {
      sum += value;
    }
  }
  if (errors > 0) {
    fprintf(stderr, "%d errors\n", errors);
    exit(1);
  }
  return sum;
}

int sum_or_warning(FILE *file) {
  char line[80];
  int errors = 0, sum = 0, value = 0;
  while (fgets(line, sizeof line, file)) {
    if (read_bad(line, &value) != 0) {
      if (__builtin_sadd_overflow(errors, 1, &errors))
        abort();
    } else {
      sum += value;
    }
  }
  if (errors > 0)
    fprintf(stderr, "%d errors\n", errors);
  return sum;
}
