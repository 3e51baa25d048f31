/* Counters and flags that loops leave behind. */
#include <stdlib.h>
#include <string.h>

void first_round_bad(int n) {
  char *hdr = NULL;
  for (int i = 0; i < n; i++) {
    if (i == 0)
      hdr = malloc(12); // LEAK
  }
  if (n > 1)
    free(hdr);
}

void first_round_ok(int n) {
  char *hdr = NULL;
  for (int i = 0; i < n; i++) {
    if (i == 0)
      hdr = malloc(12);
  }
  if (n > 0)
    free(hdr);
}

int found_index_bad(const int *v, int n) {
  int idx = -1;
  int *hit = NULL;
  for (int i = 0; i < n; i++) {
    if (v[i] == 7) {
      idx = i;
      hit = malloc(sizeof *hit); // LEAK
      break;
    }
  }
  if (idx > 0)
    free(hit);
  return idx;
}

int found_index_ok(const int *v, int n) {
  int idx = -1;
  int *hit = NULL;
  for (int i = 0; i < n; i++) {
    if (v[i] == 7) {
      idx = i;
      hit = malloc(sizeof *hit);
      break;
    }
  }
  if (idx >= 0)
    free(hit);
  return idx;
}

int counted_bad(const char *s) {
  char *one = NULL;
  int count = 0;
  for (; *s; s++) {
    if (*s == ':') {
      if (count == 0)
        one = malloc(4); // LEAK
      count++;
    }
  }
  if (count == 1)
    free(one);
  return count;
}

int counted_ok(const char *s) {
  char *one = NULL;
  int count = 0;
  for (; *s; s++) {
    if (*s == ':') {
      if (count == 0)
        one = malloc(4);
      count++;
    }
  }
  if (count)
    free(one);
  return count;
}

void fixed_rounds_bad(void) {
  char *p = NULL;
  for (int i = 0; i < 3; i++) {
    if (i == 0)
      p = malloc(4); // LEAK
    if (i == 3)
      free(p);
  }
}

void fixed_rounds_ok(void) {
  char *p = NULL;
  for (int i = 0; i < 3; i++) {
    if (i == 0)
      p = malloc(4);
    if (i == 2)
      free(p);
  }
}

int countdown_bad(int tries) {
  char *p = NULL;
  while (tries > 0 && !p) {
    p = malloc(64); // LEAK
    tries--;
  }
  if (tries > 0)
    free(p);
  return tries;
}

int countdown_ok(int tries) {
  char *p = NULL;
  while (tries > 0 && !p) {
    p = malloc(64);
    tries--;
  }
  if (p)
    free(p);
  return tries;
}
