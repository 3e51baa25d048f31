// A block is not a number, and not what somebody knew before it was made.
#include <stdlib.h>
#include <string.h>

#define SKIPPED ((char *)-1)

extern char *current;

static char *lock_name(const char *name) {
  char *copy = strdup(name);
  if (!copy)
    abort();
  if (name[0] == '#') {
    free(copy);
    return SKIPPED;
  }
  return copy;
}

int sentinel_ok(const char *name) {
  char *lock = lock_name(name);
  if (lock == SKIPPED)
    return 1;
  free(lock);
  return 0;
}

int sentinel_bad(const char *name) {
  char *lock = lock_name(name); // LEAK
  if (lock != SKIPPED)
    return 1;
  return 0;
}

int same_file(const char *, const char *);

void older_pointer_ok(const char *name) {
  char *directory = strdup(name);
  if (!directory)
    return;
  same_file(".", directory);
  if (directory != current)
    free(directory);
}
