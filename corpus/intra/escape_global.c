/* Globals hold a block, on the paths where it really gets there. */
#include <stdlib.h>
#include <string.h>

static char *current_dir;
static char *search_path[4];
static struct {
  char *prefix;
  int set;
} settings;

int some_path_bad(const char *s, int quiet) {
  char *d = strdup(s); // LEAK
  if (!d)
    return -1;
  if (quiet)
    return 0;
  current_dir = d;
  return 1;
}

int some_path_ok(const char *s, int quiet) {
  char *d = strdup(s);
  if (!d)
    return -1;
  if (quiet) {
    free(d);
    return 0;
  }
  current_dir = d;
  return 1;
}

int global_slot_bad(const char *s, unsigned i) {
  char *d = strdup(s); // LEAK
  if (i >= 4)
    return -1;
  search_path[i] = d;
  return 0;
}

int global_slot_ok(const char *s, unsigned i) {
  if (i >= 4)
    return -1;
  char *d = strdup(s);
  search_path[i] = d;
  return 0;
}

void global_struct_bad(const char *s) {
  char *p = strdup(s); // LEAK
  if (p && !settings.set)
    settings.prefix = p;
  settings.set = 1;
}

void global_struct_ok(const char *s) {
  char *p = strdup(s);
  if (p && !settings.set)
    settings.prefix = p;
  else
    free(p);
  settings.set = 1;
}

int reader(void) {
  return current_dir && search_path[0] && settings.prefix;
}
