/* A callee that gives up for sizes that nobody has; in the function itself the same test is a path like any other. */
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Returns the old text if there is no memory for a longer one. */
static char *appended(char *text, const char *more) {
  size_t size = strlen(text), length = strlen(more);
  if (size > INT_MAX - 1 || length > INT_MAX - 1)
    return NULL;
  char *longer = realloc(text, size + length + 1);
  if (!longer)
    return text;
  memcpy(longer + size, more, length + 1);
  return longer;
}

/* Gives up for texts that many have. */
static char *appended_short(char *text, const char *more) {
  size_t size = strlen(text), length = strlen(more);
  if (size > 80 || length > 80)
    return NULL;
  char *longer = realloc(text, size + length + 1);
  if (!longer)
    return text;
  memcpy(longer + size, more, length + 1);
  return longer;
}

char *appended_ok(const char *from, const char *more) {
  char *text = strdup(from);
  if (!text)
    return NULL;
  text = appended(text, more);
  return text;
}

char *appended_bad(const char *from, const char *more) {
  char *text = strdup(from); // LEAK
  if (!text)
    return NULL;
  text = appended_short(text, more); // LOST
  return text;
}

int own_test_bad(size_t count) {
  char *text = malloc(8); // LEAK
  if (!text)
    return -1;
  if (count > SIZE_MAX / 16)
    return -1;
  free(text);
  return 0;
}
