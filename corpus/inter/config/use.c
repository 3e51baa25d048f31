/* The caller of both. */
#include "config.h"
#include <stdlib.h>
#include <string.h>

int key_length_bad(const char *line) {
  struct setting s;
  if (split_pair(line, &s) != CFG_OK) // LEAK
    return -1;
  int n = (int)strlen(s.key);
  free(s.key);
  return n;
}

int key_length_ok(const char *line) {
  struct setting s;
  if (split_pair(line, &s) != CFG_OK)
    return -1;
  int n = (int)strlen(s.key);
  free(s.key);
  free(s.value);
  return n;
}

int has_value_bad(const char *line) {
  struct setting *s = NULL;
  int rc = read_setting(line, &s); // LEAK x2
  if (rc < 0)
    return rc;
  rc = s->value[0] != '\0';
  free(s); // LOST
  return rc;
}

int has_value_ok(const char *line) {
  struct setting *s = NULL;
  int rc = read_setting(line, &s);
  if (rc < 0)
    return rc;
  rc = s->value[0] != '\0';
  setting_free(s);
  return rc;
}
