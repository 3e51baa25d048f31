/* getline allocates into its first argument and leaves the buffer there even at the end of the file. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>

int count_lines_bad(FILE *f) {
  char *line = NULL;
  size_t cap = 0;
  int n = 0;
  while (getline(&line, &cap, f) != -1) // LEAK
    n++;
  return n;
}

int count_lines_ok(FILE *f) {
  char *line = NULL;
  size_t cap = 0;
  int n = 0;
  while (getline(&line, &cap, f) != -1)
    n++;
  free(line);
  return n;
}

int first_char_bad(FILE *f) {
  char *line = NULL;
  size_t cap = 0;
  ssize_t len = getline(&line, &cap, f); // LEAK
  if (len <= 0)
    return -1;
  int c = line[0];
  free(line);
  return c;
}

int first_char_ok(FILE *f) {
  char *line = NULL;
  size_t cap = 0;
  ssize_t len = getline(&line, &cap, f);
  if (len <= 0) {
    free(line);
    return -1;
  }
  int c = line[0];
  free(line);
  return c;
}

int stop_word_bad(FILE *f) {
  char *word = NULL;
  size_t cap = 0;
  while (getdelim(&word, &cap, ' ', f) > 0) { // LEAK
    if (word[0] == 'q')
      return 1;
  }
  free(word);
  return 0;
}

int stop_word_ok(FILE *f) {
  char *word = NULL;
  size_t cap = 0;
  int hit = 0;
  while (getdelim(&word, &cap, ' ', f) > 0) {
    if (word[0] == 'q') {
      hit = 1;
      break;
    }
  }
  free(word);
  return hit;
}
