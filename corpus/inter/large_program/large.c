/* Twenty thousand instructions that have nothing to do with memory. */
#include "large.h"

#define TWICE(x) x x
#define SIXTEEN(x) TWICE(TWICE(TWICE(TWICE(x))))
#define LONG(x) SIXTEEN(SIXTEEN(TWICE(TWICE(TWICE(x)))))

static volatile int counter;

static void up(void) {
  LONG(counter += 1;)
}

static void down(void) {
  LONG(counter -= 1;)
}

static void over(void) {
  LONG(counter *= 3;)
}

static void across(void) {
  LONG(counter ^= 5;)
}

void fill(void) {
  up();
  down();
  over();
  across();
}
