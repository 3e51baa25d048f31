/* Loops with constant bounds: execution knows which elements they leave. */
#include <stdlib.h>

void all_but_the_last_bad(void) {
  char *parts[3];
  for (int i = 0; i < 3; i++)
    parts[i] = malloc(4); // LEAK
  for (int i = 0; i < 2; i++)
    free(parts[i]);
}

void all_ok(void) {
  char *parts[3];
  for (int i = 0; i < 3; i++)
    parts[i] = malloc(4);
  for (int i = 0; i < 3; i++)
    free(parts[i]);
}

void all_but_the_first_bad(void) {
  char **parts = malloc(5 * sizeof *parts);
  if (!parts)
    return;
  for (int i = 0; i < 5; i++)
    parts[i] = malloc(4); // LEAK
  for (int i = 4; i > 0; i--)
    free(parts[i]);
  free(parts);
}

void backwards_ok(void) {
  char **parts = malloc(5 * sizeof *parts);
  if (!parts)
    return;
  for (int i = 0; i < 5; i++)
    parts[i] = malloc(4);
  for (int i = 4; i >= 0; i--)
    free(parts[i]);
  free(parts);
}

struct part {
  char *text;
  int kind;
};

void all_but_one_bad(void) {
  struct part parts[4];
  for (int i = 0; i < 4; i++) {
    parts[i].text = malloc(3); // LEAK
    parts[i].kind = i;
  }
  for (int i = 0; i < 4; i++)
    if (parts[i].kind != 2)
      free(parts[i].text);
}

/* What callers pass decides: the numbers may be the same. */
void counted_by_callers_ok(int made, int freed) {
  char *parts[30];
  for (int i = 0; i < made; i++)
    parts[i] = malloc(4);
  for (int i = 0; i < freed; i++)
    free(parts[i]);
}

/* More turns than are executed one by one. */
void stack_of_fifty_ok(void) {
  char **parts = calloc(60, sizeof *parts);
  int count = 0;
  if (!parts)
    return;
  for (int i = 0; i < 50; i++) {
    parts[count] = malloc(4);
    if (parts[count])
      count++;
  }
  while (count > 0)
    free(parts[--count]);
  free(parts);
}

void until_null_ok(void) {
  char **parts = calloc(6, sizeof *parts);
  if (!parts)
    return;
  for (int i = 0; i < 5; i++) {
    parts[i] = malloc(4);
    if (!parts[i])
      break;
  }
  for (char **p = parts; *p; p++)
    free(*p);
  free(parts);
}
