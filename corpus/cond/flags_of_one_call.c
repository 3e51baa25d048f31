/* A flag that the only call never sets decides nothing; a number that is in some range by chance does. */
#include <stdlib.h>

static void work_ok(int keep) {
  char *p = malloc(3);
  if (!keep)
    free(p);
}

static void work_bad(int keep) {
  char *p = malloc(3); // LEAK
  if (!keep)
    free(p);
}

static int checked_bad(int n) {
  char *p = malloc(3); // LEAK
  if (n < 0)
    return -1;
  free(p);
  return 0;
}

int main(void) {
  work_ok(0);
  work_bad(1);
  return checked_bad(3);
}
