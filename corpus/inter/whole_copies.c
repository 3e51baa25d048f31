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

/* A small structure that is copied to where only others know. */
struct entry {
  char *name;
  int kind;
};

struct entries {
  struct entry *list;
  int count;
};

struct entries *entries_of(void *library);

static int add_entry(void *library, const struct entry *entry) {
  struct entries *entries = entries_of(library);
  if (!entries)
    return 0;
  entries->list[entries->count] = *entry;
  entries->count++;
  return 1;
}

static int look_at_entry(void *library, const struct entry *entry) {
  struct entries *entries = entries_of(library);
  if (!entries)
    return 0;
  entries->list[entries->count].kind = entry->kind;
  entries->count++;
  return 1;
}

int added_ok(void *library, const char *name) {
  struct entry entry = {strdup(name), 1};
  if (!entry.name)
    return 0;
  if (!add_entry(library, &entry)) {
    free(entry.name);
    return 0;
  }
  return 1;
}

int added_bad(void *library, const char *name) {
  struct entry entry = {strdup(name), 1}; // LEAK
  if (!entry.name)
    return 0;
  if (!look_at_entry(library, &entry)) {
    free(entry.name);
    return 0;
  }
  return 1;
}
