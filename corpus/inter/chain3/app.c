/* Top layer: loses what the lowest layer allocated for the middle one. */
#include "chain.h"
#include <stdio.h>
#include <string.h>

int count_words_bad(const char *text) {
  char *w;
  int n = 0;
  while (next_word(&text, &w)) { // LEAK
    if (w[0] == '#')
      continue;
    n++;
    pool_put(w);
  }
  return n;
}

int count_words_ok(const char *text) {
  char *w;
  int n = 0;
  while (next_word(&text, &w)) {
    if (w[0] != '#')
      n++;
    pool_put(w);
  }
  return n;
}

int keyword_bad(const char *s) {
  struct token *t = token_new(s, 1); // LEAK x2
  if (strcmp(t->text, "if") == 0)
    return t->kind;
  token_free(t);
  return 0;
}

int keyword_ok(const char *s) {
  struct token *t = token_new(s, 1);
  int k = strcmp(t->text, "if") == 0 ? t->kind : 0;
  token_free(t);
  return k;
}

int first_word_bad(const char *text) {
  char *w = NULL;
  if (!next_word(&text, &w)) // LEAK
    return -1;
  puts(w);
  w = NULL; // LOST
  pool_put(w);
  return 0;
}

int first_word_ok(const char *text) {
  char *w = NULL;
  if (!next_word(&text, &w))
    return -1;
  puts(w);
  pool_put(w);
  w = NULL;
  return 0;
}
