// A function that gives up without freeing, and whose callers all end the program then.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void die(const char *message) {
  fprintf(stderr, "%s\n", message);
  exit(1);
}

static int decode_ok(int bad) {
  char *table = malloc(100);
  if (!table)
    return 3;
  if (bad)
    return 1;
  free(table);
  return 0;
}

static int block_ok(int kind) {
  if (kind == 1)
    return decode_ok(kind);
  return 0;
}

static int decode_bad(int bad) {
  char *table = malloc(100); // LEAK
  if (!table)
    return 3;
  if (bad)
    return 1;
  free(table);
  return 0;
}

void unpack(int kind) {
  if (block_ok(kind) != 0)
    die("bad data");
}

int try_to_unpack(int kind) {
  if (decode_bad(kind) == 3)
    die("out of memory");
  return kind;
}

static void check_memory(const void *p) {
  if (!p)
    die("out of memory");
}

// The old block is lost where the program ends.
char *grown_or_ended_ok(char *text, size_t n) {
  char *line = malloc(n);
  check_memory(line);
  strcpy(line, text);
  line = realloc(line, 2 * n);
  check_memory(line);
  return line;
}

char *grown_or_null_bad(char *text, size_t n) {
  char *line = malloc(n); // LEAK
  check_memory(line);
  strcpy(line, text);
  line = realloc(line, 2 * n);
  return line;
}
