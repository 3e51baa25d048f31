// Loops that are tested at their end: the next turn begins with what the test has let pass.
#include <stdlib.h>

void tries_ok(int wanted) {
  char *p;
  int tries = 0;
  do {
    p = malloc(10);
    if (!p)
      return;
    if (tries == wanted)
      break;
    free(p);
    tries++;
  } while (tries < 3);
  if (tries < 3)
    free(p);
}

void tries_bad(int wanted) {
  char *p;
  int tries = 0;
  do {
    p = malloc(10); // LEAK
    if (!p)
      return;
    if (tries == wanted)
      break;
    free(p);
    tries++;
  } while (tries < 3);
  if (tries < 2)
    free(p);
}

void counted_down_ok(int wanted, int n) {
  char *p;
  int left = 9;
  do {
    p = malloc(10);
    if (!p)
      return;
    if (left == wanted)
      break;
    free(p);
    left -= n > 5 ? 2 : 1;
  } while (0 < left);
  if (left > 0)
    free(p);
}

void counted_down_bad(int wanted, int n) {
  char *p;
  int left = 9;
  do {
    p = malloc(10); // LEAK
    if (!p)
      return;
    if (left == wanted)
      break;
    free(p);
    left -= n > 5 ? 2 : 1;
  } while (0 < left);
  if (left > 4)
    free(p);
}
