/* Middle layer: words and tokens made of pool memory. */
#include "chain.h"
#include <string.h>

struct token *token_new(const char *s, int kind) {
  struct token *t = pool_get(sizeof *t);
  t->text = pool_copy(s, strlen(s));
  t->kind = kind;
  return t;
}

void token_free(struct token *t) {
  pool_put(t->text);
  pool_put(t);
}

int next_word(const char **cursor, char **word) {
  const char *s = *cursor;
  while (*s == ' ')
    s++;
  if (!*s)
    return 0;
  size_t n = strcspn(s, " ");
  *word = pool_copy(s, n);
  *cursor = s + n;
  return 1;
}

int last_kind_bad(const char *s) {
  struct token *t = token_new(s, 4); // LEAK
  int k = t->kind;
  pool_put(t); // LOST
  return k;
}

int last_kind_ok(const char *s) {
  struct token *t = token_new(s, 4);
  int k = t->kind;
  token_free(t);
  return k;
}
