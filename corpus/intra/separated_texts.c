// `strsep` returns the beginning and moves the variable on.
#include <stdlib.h>
#include <string.h>

int taken_apart_ok(const char *path, char **name) {
  char *rest = strdup(path);
  if (!rest)
    return -1;
  *name = strsep(&rest, ":");
  if (rest && *rest == '!') {
    free(*name);
    *name = NULL;
    return -1;
  }
  return 0;
}

int taken_apart_bad(const char *path, char *name, size_t n) {
  char *rest = strdup(path); // LEAK
  if (!rest)
    return -1;
  const char *first = strsep(&rest, ":");
  if (strlen(first) >= n)
    return -1;
  strcpy(name, first);
  return 0;
}

int words_ok(const char *text) {
  char *copy = strdup(text), *rest = copy, *word;
  int n = 0;
  while ((word = strsep(&rest, " ")) != NULL)
    n += *word != '\0';
  free(copy);
  return n;
}

int words_bad(const char *text) {
  char *rest = strdup(text), *word; // LEAK
  int n = 0;
  while ((word = strsep(&rest, " ")) != NULL)
    n += *word != '\0';
  free(rest);
  return n;
}
