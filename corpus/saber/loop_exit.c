// After fig. 8: a loop is turned at most once and its exit condition is dropped.
#include <stdio.h>
#include <stdlib.h>

int leaves_loop_bad(int n) {
  char *v = malloc(4); // LEAK D002
  for (int k = 0; k < 10; k++) {
    if (n < 2)
      putchar(k);
    else
      return 1;
  }
  free(v);
  return 0;
}

int leaves_loop_ok(int n) {
  char *v = malloc(4);
  for (int k = 0; k < 10; k++) {
    if (n < 2)
      putchar(k);
    else {
      free(v);
      return 1;
    }
  }
  free(v);
  return 0;
}
