/* Fills a struct of the caller; on failure it holds nothing. */
#include "config.h"
#include <stdlib.h>
#include <string.h>

int split_pair(const char *line, struct setting *out) {
  const char *eq = strchr(line, '=');
  if (!eq)
    return CFG_ESYNTAX;
  char *k = strndup(line, (size_t)(eq - line));
  if (!k)
    return CFG_ENOMEM;
  char *v = strdup(eq + 1);
  if (!v) {
    free(k);
    return CFG_ENOMEM;
  }
  out->key = k;
  out->value = v;
  return CFG_OK;
}
