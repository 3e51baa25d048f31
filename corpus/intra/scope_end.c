/* The last reference is a local variable whose scope ends. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int banner_bad(const char *title) {
  char *line = malloc(strlen(title) + 3); // LEAK
  if (line == NULL)
    return -1;
  sprintf(line, "[%s]", title);
  puts(line);
  return 0;
}

int banner_ok(const char *title) {
  char *line = malloc(strlen(title) + 3);
  if (line == NULL)
    return -1;
  sprintf(line, "[%s]", title);
  puts(line);
  free(line);
  return 0;
}

void inner_block_bad(int verbose) {
  if (verbose) {
    int *histogram = calloc(16, sizeof *histogram); // LEAK
    if (histogram)
      printf("%d\n", histogram[0]);
  }
  puts("done");
}

void inner_block_ok(int verbose) {
  if (verbose) {
    int *histogram = calloc(16, sizeof *histogram);
    if (histogram)
      printf("%d\n", histogram[0]);
    free(histogram);
  }
  puts("done");
}

size_t pointer_to_const_bad(const char *s) {
  const char *copy = strdup(s); // LEAK
  if (!copy)
    return 0;
  return strlen(copy);
}

size_t pointer_to_const_ok(const char *s) {
  const char *copy = strdup(s);
  if (!copy)
    return 0;
  size_t n = strlen(copy);
  free((void *)copy);
  return n;
}
