/* A large structure of the caller's that is copied as a whole: what it holds goes with the copy. */
#include <stdlib.h>
#include <string.h>

struct setting {
  const char *name;
  int flags;
  int numbers[40];
  char *values;
};

static struct setting *table[16];
static int count;

static void enter(const struct setting *setting) {
  struct setting *copy = malloc(sizeof *copy);
  if (!copy)
    abort();
  memcpy(copy, setting, sizeof *copy);
  table[count++] = copy;
}

static int compare(const struct setting *setting) {
  struct setting copy;
  memcpy(&copy, setting, sizeof copy);
  return copy.flags == table[0]->flags;
}

void entered_ok(const char *text) {
  struct setting setting = {"a", 1, {0}, NULL};
  setting.values = strdup(text);
  enter(&setting);
}

int compared_bad(const char *text) {
  struct setting setting = {"a", 1, {0}, NULL};
  setting.values = strdup(text); // LEAK
  return compare(&setting);
}
