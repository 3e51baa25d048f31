/* break and continue around the release inside a loop body. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int find_key_bad(FILE *f, const char *key) {
  char line[128];
  int found = 0;
  while (fgets(line, sizeof line, f)) {
    char *k = strdup(line); // LEAK
    if (!k)
      break;
    if (strcmp(k, key) == 0) {
      found = 1;
      break;
    }
    free(k);
  }
  return found;
}

int find_key_ok(FILE *f, const char *key) {
  char line[128];
  int found = 0;
  while (fgets(line, sizeof line, f)) {
    char *k = strdup(line);
    if (!k)
      break;
    if (strcmp(k, key) == 0) {
      found = 1;
      free(k);
      break;
    }
    free(k);
  }
  return found;
}

int skip_comments_bad(FILE *f) {
  char line[128];
  int n = 0;
  while (fgets(line, sizeof line, f)) {
    char *t = strdup(line); // LEAK
    if (t == NULL)
      return -1;
    if (t[0] == '#')
      continue;
    n++;
    free(t);
  }
  return n;
}

int skip_comments_ok(FILE *f) {
  char line[128];
  int n = 0;
  while (fgets(line, sizeof line, f)) {
    char *t = strdup(line);
    if (t == NULL)
      return -1;
    if (t[0] == '#') {
      free(t);
      continue;
    }
    n++;
    free(t);
  }
  return n;
}

int declared_outside_bad(int n) {
  char *slot = NULL;
  for (int i = 0; i < n; i++) {
    slot = malloc(i + 1); // LEAK
    if (!slot)
      return -1;
    if (i == 5)
      break;
    free(slot);
    slot = NULL;
  }
  return 0;
}

int declared_outside_ok(int n) {
  char *slot = NULL;
  for (int i = 0; i < n; i++) {
    slot = malloc(i + 1);
    if (!slot)
      return -1;
    if (i == 5)
      break;
    free(slot);
    slot = NULL;
  }
  free(slot);
  return 0;
}
