/* The comma operator and comma expressions in for headers. */
#include <stdlib.h>

int for_header_bad(int n) {
  int i, sum = 0;
  int *acc;
  for (i = 0, acc = calloc(1, sizeof *acc); acc && i < n; i++) // LEAK
    sum += i, *acc += i;
  return sum;
}

int for_header_ok(int n) {
  int i, sum = 0;
  int *acc;
  for (i = 0, acc = calloc(1, sizeof *acc); acc && i < n; i++)
    sum += i, *acc += i;
  return free(acc), sum;
}

int lost_in_expression_bad(int n) {
  char *p = malloc(9); // LEAK
  if (n > 4)
    n++, p = NULL; // LOST
  free(p);
  return n;
}

int lost_in_expression_ok(int n) {
  char *p = malloc(9);
  if (n > 4)
    free(p), n++, p = NULL;
  free(p);
  return n;
}
