/* Allocates the struct and lets the other file fill it. */
#include "config.h"
#include <stdlib.h>

int read_setting(const char *line, struct setting **out) {
  struct setting *s = malloc(sizeof *s);
  if (!s)
    return CFG_ENOMEM;
  int rc = split_pair(line, s);
  if (rc != CFG_OK) {
    free(s);
    return rc;
  }
  *out = s;
  return CFG_OK;
}

void setting_free(struct setting *s) {
  free(s->key);
  free(s->value);
  free(s);
}

int read_checked_bad(const char *line, struct setting **out) {
  struct setting *s = malloc(sizeof *s); // LEAK
  if (!s)
    return CFG_ENOMEM;
  int rc = split_pair(line, s);
  if (rc != CFG_OK)
    return rc;
  *out = s;
  return CFG_OK;
}

int read_checked_ok(const char *line, struct setting **out) {
  struct setting *s = malloc(sizeof *s);
  if (!s)
    return CFG_ENOMEM;
  int rc = split_pair(line, s);
  if (rc == CFG_OK)
    *out = s;
  else
    free(s);
  return rc;
}
