/* A return between the allocation and the release. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int parse_header_bad(const char *src, int strict) {
  char *copy = strdup(src); // LEAK
  if (!copy)
    return -1;
  if (copy[0] != '#')
    goto done;
  if (strict)
    return -2;
  putchar(copy[1]);
done:
  free(copy);
  return 0;
}

int parse_header_ok(const char *src, int strict) {
  char *copy = strdup(src);
  if (!copy)
    return -1;
  if (copy[0] != '#')
    goto done;
  if (strict) {
    free(copy);
    return -2;
  }
  putchar(copy[1]);
done:
  free(copy);
  return 0;
}

int two_blocks_bad(size_t n) {
  int *keys = malloc((n + 1) * sizeof(int)); // LEAK
  if (!keys)
    return -1;
  int *vals = malloc((n + 1) * sizeof(int));
  if (!vals)
    return -1;
  keys[0] = vals[0] = 0;
  free(vals);
  free(keys);
  return 0;
}

int two_blocks_ok(size_t n) {
  int *keys = malloc((n + 1) * sizeof(int));
  if (!keys)
    return -1;
  int *vals = malloc((n + 1) * sizeof(int));
  if (!vals) {
    free(keys);
    return -1;
  }
  keys[0] = vals[0] = 0;
  free(vals);
  free(keys);
  return 0;
}
