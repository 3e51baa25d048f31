#ifndef CHAIN_H
#define CHAIN_H
#include <stddef.h>
struct token {
  char *text;
  int kind;
};
void *pool_get(size_t n);
void pool_put(void *p);
char *pool_copy(const char *s, size_t n);
struct token *token_new(const char *s, int kind);
void token_free(struct token *t);
int next_word(const char **cursor, char **word);
#endif
