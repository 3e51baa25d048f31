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

struct table {
  char **rows;
  int used;
};

// The caller keeps what it gets, and looks at it where it is kept.
static char **rows_ok(int n) {
  char **rows = NULL;
  for (int i = 0; i < n; i++) {
    char **more = realloc(rows, (i + 1) * sizeof *rows);
    if (!more)
      return NULL;
    rows = more;
    rows[i] = "";
  }
  return rows;
}

static char **rows_bad(int n) {
  char **rows = NULL;
  for (int i = 0; i < n; i++) {
    char **more = realloc(rows, (i + 1) * sizeof *rows); // LEAK
    if (!more)
      return NULL;
    rows = more;
    rows[i] = "";
  }
  return rows;
}

void fill_ok(struct table *t, int n) {
  t->rows = rows_ok(n);
  if (!t->rows)
    die("out of memory");
  t->used = n;
}

int fill_bad(struct table *t, int n) {
  t->rows = rows_bad(n);
  if (!t->rows)
    return -1;
  t->used = n;
  return 0;
}

// All lines of a file are looked at, and then the program ends.
static int line_ok(const char *line) {
  char *copy = malloc(100);
  if (!copy)
    return -1;
  strncpy(copy, line, 99);
  copy[99] = 0;
  if (!strchr(copy, '='))
    return -1;
  free(copy);
  return 0;
}

static int line_bad(const char *line) {
  char *copy = malloc(100); // LEAK
  if (!copy)
    return -1;
  strncpy(copy, line, 99);
  copy[99] = 0;
  if (!strchr(copy, '='))
    return -1;
  free(copy);
  return 0;
}

void config_ok(FILE *f) {
  char line[200];
  int errors = 0;
  while (fgets(line, sizeof line, f))
    if (line_ok(line) != 0)
      errors++;
  fclose(f);
  if (errors > 0)
    die("bad configuration");
}

// The errors are only told.
int config_bad(FILE *f) {
  char line[200];
  int errors = 0;
  while (fgets(line, sizeof line, f))
    if (line_bad(line) != 0)
      errors++;
  fclose(f);
  if (errors > 0)
    puts("bad configuration");
  return errors;
}
