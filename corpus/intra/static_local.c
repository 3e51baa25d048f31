/* A static local outlives the call, an automatic one does not. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int crc_byte_bad(unsigned char c) {
  unsigned *table = NULL;
  if (!table) {
    table = calloc(256, sizeof *table); // LEAK
    if (!table)
      return -1;
  }
  return (int)table[c];
}

int crc_byte_ok(unsigned char c) {
  static unsigned *table = NULL;
  if (!table) {
    table = calloc(256, sizeof *table);
    if (!table)
      return -1;
  }
  return (int)table[c];
}

const char *hostname_once_bad(const char *h) {
  static char *cached;
  if (cached == NULL) {
    char *fresh = strdup(h); // LEAK
    if (fresh == NULL || fresh[0] == '\0')
      return "unknown";
    cached = fresh;
  }
  return cached;
}

const char *hostname_once_ok(const char *h) {
  static char *cached;
  if (cached == NULL) {
    char *fresh = strdup(h);
    if (fresh == NULL || fresh[0] == '\0') {
      free(fresh);
      return "unknown";
    }
    cached = fresh;
  }
  return cached;
}
