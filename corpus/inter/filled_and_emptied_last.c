/* A variable that is emptied at the end only holds the first block when the second one comes. */
#include <stdlib.h>

static char *lost, *kept, *between;

static void set_bad(void) {
  lost = malloc(3); // LEAK
}

static void clear_lost(void) {
  free(lost);
  lost = NULL;
}

static void set_ok(void) {
  free(kept);
  kept = malloc(3);
}

static void clear_kept(void) {
  free(kept);
  kept = NULL;
}

static void set_between_ok(void) { between = malloc(3); }

static void clear_between(void) {
  free(between);
  between = NULL;
}

int main(void) {
  set_bad();
  set_bad();
  clear_lost();
  set_ok();
  set_ok();
  clear_kept();
  set_between_ok();
  clear_between();
  set_between_ok();
  clear_between();
  return 0;
}
