/* Facts about the whole program: globals that nobody writes, functions with one result, setters that change both. */
#include <stdlib.h>
#include <string.h>

static int trace_enabled;       /* nobody writes it */
static int strict_mode;         /* set_strict() writes it */
static const int max_depth = 8; /* constant by type */

void set_strict(int on) {
  strict_mode = on;
}

static int feature_level(void) {
  return 2;
}

static int user_level(int n) {
  return n > 2 ? 3 : 2;
}

int unwritten_global_bad(const char *s) {
  char *p = strdup(s); // LEAK
  if (!p)
    return -1;
  if (strict_mode)
    return 1;
  free(p);
  return 0;
}

int unwritten_global_ok(const char *s) {
  char *p = strdup(s);
  if (!p)
    return -1;
  if (trace_enabled)
    return 1;
  free(p);
  return 0;
}

int one_result_bad(const char *s, int n) {
  char *p = strdup(s); // LEAK
  if (user_level(n) == 3)
    return 1;
  free(p);
  return 0;
}

int one_result_ok(const char *s, int n) {
  char *p = strdup(s);
  if (feature_level() == 3)
    return n;
  free(p);
  return 0;
}

int constant_bad(int depth) {
  char *p = malloc(8); // LEAK
  if (depth > max_depth)
    return -1;
  free(p);
  return 0;
}

int constant_ok(int depth) {
  char *p = malloc(8);
  if (max_depth > 9)
    return depth;
  free(p);
  return 0;
}
