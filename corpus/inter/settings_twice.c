/* Options whose values stay in variables: given twice, the first value is lost. Who never frees it does not care. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
  char *host;
  char *name;
  int port;
} settings;

static char *directory;
static char *title;

/* Never freed by anybody. */
int parse_ok(int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    int is_last = i == argc - 1;
    if (!strcmp(argv[i], "-h")) {
      if (is_last)
        return -1;
      settings.host = strdup(argv[++i]);
    } else if (!strcmp(argv[i], "-p")) {
      settings.port = atoi(argv[++i]);
    }
  }
  return 0;
}

int switch_ok(int (*next)(void), const char *argument) {
  int option;
  while ((option = next()) != -1) {
    switch (option) {
    case 'd':
      if (!argument)
        return -1;
      directory = strdup(argument);
      break;
    case 'v':
      puts("version");
      break;
    case 'q':
      return 1;
    }
  }
  return 0;
}

/* Freed in the end: so the first one is meant to be, too. */
int parse_bad(int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    int is_last = i == argc - 1;
    if (!strcmp(argv[i], "-n")) {
      if (is_last)
        return -1;
      settings.name = strdup(argv[++i]); // LEAK, LOST
    } else if (!strcmp(argv[i], "-t")) {
      if (is_last)
        return -1;
      title = strdup(argv[++i]); // LEAK, LOST
    }
  }
  return 0;
}

static void drop(char *text) {
  if (text)
    free(text);
}

void finish(void) {
  free(settings.name);
  drop(title);
}

/* No option: every line is wanted. */
int lines_bad(FILE *in) {
  char line[80];
  while (fgets(line, sizeof line, in)) {
    if (line[0] != '#')
      settings.host = strdup(line); // LEAK, LOST
  }
  return 0;
}

/* Attributes of one message: a callee makes the table and puts it in its place. The same attribute does not come twice. */
struct reply {
  int *table;
  int id;
};

static int read_table(struct reply *reply, int n) {
  int *table = calloc((size_t)n, sizeof *table);
  if (!table)
    return -1;
  reply->table = table;
  return 0;
}

int attributes_ok(struct reply *reply, int (*next)(void)) {
  int attribute;
  while ((attribute = next()) != 0) {
    switch (attribute & 15) {
    case 1:
      reply->id = attribute >> 4;
      break;
    case 2:
      if (read_table(reply, attribute >> 4) < 0)
        return -1;
      break;
    }
  }
  return 0;
}

/* Every one of them. */
int tables_bad(struct reply *reply, int (*next)(void)) {
  int attribute;
  while ((attribute = next()) != 0) {
    if (read_table(reply, attribute) < 0) // LEAK, LOST
      return -1;
  }
  return 0;
}
