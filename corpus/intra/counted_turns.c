/* A counter that begins with a constant is no state that says "done once": every turn makes another block. */
#include <stdlib.h>

int ask(char *);

void each_turn_bad(void) {
  for (int i = 0; i < 100; i++) {
    char *p = malloc(10); // LEAK
    if (p)
      p[0] = i;
  }
}

void each_turn_ok(void) {
  for (int i = 0; i < 100; i++) {
    char *p = malloc(10);
    if (p)
      p[0] = i;
    free(p);
  }
}

/* As many turns as it says, and no more. */
void sum_ok(void) {
  char *p = malloc(2);
  int i, n = 0;
  for (i = 0; i < 10; i++)
    n += i;
  if (n == 45)
    free(p);
}

void sum_bad(void) {
  char *p = malloc(2); // LEAK
  int i, n = 0;
  for (i = 0; i < 10; i++)
    n += i;
  if (n == 46)
    free(p);
}

void last_ok(void) {
  char *p = malloc(2);
  int i;
  for (i = 0; i < 1000; i++)
    ;
  if (i == 1000)
    free(p);
}

void last_bad(void) {
  char *p = malloc(2); // LEAK
  int i;
  for (i = 0; i < 1000; i++)
    ;
  if (i == 1001)
    free(p);
}
