/* Odd and even, also through products. */
#include <stdlib.h>

void remainder_bad(int n) {
  char *p = NULL;
  if (n & 1)
    p = malloc(4); // LEAK
  if (n % 2 == 1)
    free(p);
}

void remainder_ok(int n) {
  char *p = NULL;
  if (n & 1)
    p = malloc(4);
  if (n % 2 != 0)
    free(p);
}

void square_bad(unsigned n) {
  char *p = NULL;
  if (n & 1)
    p = malloc(4); // LEAK
  if (!((n * n) & 1))
    free(p);
}

void square_ok(unsigned n) {
  char *p = NULL;
  if (n & 1)
    p = malloc(4);
  if ((n * n) & 1)
    free(p);
}

void neighbours_bad(unsigned n) {
  char *p = malloc(4); // LEAK
  if ((n * (n + 1)) & 2)
    return;
  free(p);
}

void neighbours_ok(unsigned n) {
  char *p = malloc(4);
  if ((n * (n + 1)) & 1)
    return;
  free(p);
}

void sum_of_odds_bad(unsigned a, unsigned b) {
  char *p = NULL;
  if ((a & 1) && (b & 1))
    p = malloc(4); // LEAK
  if ((a + b) & 1)
    free(p);
}

void sum_of_odds_ok(unsigned a, unsigned b) {
  char *p = NULL;
  if ((a & 1) && (b & 1))
    p = malloc(4);
  if (!((a + b) & 1))
    free(p);
}
