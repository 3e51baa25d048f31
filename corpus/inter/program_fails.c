/* A program with a `main`. What is lost right before it reports a failure and exits, nobody misses; what is lost where it goes on, or
 * where `main` returns, is a leak. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int parse(const char *text) {
  char *copy = strdup(text); // OK: every caller gives up
  if (!copy)
    return -1;
  if (*copy == '#')
    return -1;
  free(copy);
  return 0;
}

static int load(const char *text) {
  char *copy = strdup(text); // LEAK: main could have cleaned up
  if (!copy)
    return -1;
  if (*copy == '#')
    return -1; // LOST
  free(copy);
  return 0;
}

static int skip_comment(const char *text) {
  char *copy = strdup(text); // LEAK
  if (!copy)
    return -1;
  if (*copy == '#')
    return -2; // LOST
  free(copy);
  return 0;
}

/* A table of commands that is too large to be followed one by one. */
static int command(int argc, char **argv) {
  char *name = strdup(argv[0]); // OK: the program ends when a command has returned
  puts(name);
  return argc > 1;
}

typedef int (*run)(int, char **);
static int c01(int c, char **v) { return command(c, v) + 1; }
static int c02(int c, char **v) { return command(c, v) + 2; }
static int c03(int c, char **v) { return command(c, v) + 3; }
static int c04(int c, char **v) { return command(c, v) + 4; }
static int c05(int c, char **v) { return command(c, v) + 5; }
static int c06(int c, char **v) { return command(c, v) + 6; }
static int c07(int c, char **v) { return command(c, v) + 7; }
static int c08(int c, char **v) { return command(c, v) + 8; }
static int c09(int c, char **v) { return command(c, v) + 9; }
static int c10(int c, char **v) { return command(c, v) + 10; }
static int c11(int c, char **v) { return command(c, v) + 11; }
static int c12(int c, char **v) { return command(c, v) + 12; }
static int c13(int c, char **v) { return command(c, v) + 13; }
static int c14(int c, char **v) { return command(c, v) + 14; }
static int c15(int c, char **v) { return command(c, v) + 15; }
static int c16(int c, char **v) { return command(c, v) + 16; }
static int c17(int c, char **v) { return command(c, v) + 17; }

struct entry {
  const char *name;
  run function;
};
static const struct entry table[] = {
    {"01", c01}, {"02", c02}, {"03", c03}, {"04", c04}, {"05", c05}, {"06", c06},
    {"07", c07}, {"08", c08}, {"09", c09}, {"10", c10}, {"11", c11}, {"12", c12},
    {"13", c13}, {"14", c14}, {"15", c15}, {"16", c16}, {"17", c17},
};

static int run_command(int argc, char **argv) {
  for (unsigned i = 0; i < sizeof table / sizeof *table; i++)
    if (strcmp(table[i].name, argv[0]) == 0)
      return table[i].function(argc, argv);
  return 1;
}

/* Lost while the program goes on: the buffer is dropped in the middle. */
static int reload(const char *text) {
  char *name = strdup(text); // LEAK
  name = getenv(text); // LOST
  return name != NULL;
}

/* The flag and the pointer go together; only the callers know. */
static int print(const char *text, int counted, int *total) {
  char *copy = NULL;
  if (total)
    copy = strdup(text); // OK: nobody who counts asks for the total
  if (counted) {
    puts(text);
    return 1;
  }
  if (total) {
    *total = (int)strlen(copy);
    free(copy);
  }
  return 0;
}

int passed_on(const char *text) {
  char *copy = strdup(text); // LEAK
  if (*text == '!')
    return 3; // LOST
  free(copy);
  return 0;
}

int main(int argc, char **argv) {
  int total = 0;
  if (parse(argv[0]) < 0) {
    fprintf(stderr, "cannot parse\n");
    exit(1);
  }
  if (load(argv[0]) < 0) {
    fprintf(stderr, "cannot load\n");
    return 1;
  }
  if (skip_comment(argv[0]) == -1)
    return 1;
  if (!reload(argv[0]))
    puts("gone");
  print(argv[0], 0, &total);
  print(argv[0], 1, NULL);
  if (argc > 3)
    exit(run_command(argc, argv));
  return passed_on(argv[0]);
}
