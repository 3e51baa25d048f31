/* Commands that a parser of options picks: their address stands beside the variable that it sets. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int command(int argc, char **argv);

struct option {
  const char *name;
  void *value;
  command *run;
};

static void parse(const struct option *options, const char *name) {
  for (; options->name; options++)
    if (!strcmp(options->name, name))
      *(command **)options->value = options->run;
}

static int add_ok(int argc, char **argv) {
  char *line = malloc(80);
  if (argc < 3)
    return 1;
  strncpy(line, argv[2], 80);
  puts(line);
  free(line);
  return 0;
}

static int show_bad(int argc, char **argv) {
  char *line = malloc(80); // LEAK
  if (argc < 3)
    return 1;
  strncpy(line, argv[2], 80);
  puts(line);
  free(line);
  return 0;
}

void picked_and_done(int argc, char **argv) {
  command *run = NULL;
  struct option options[] = {{"add", &run, add_ok}, {NULL, NULL, NULL}};
  parse(options, argv[1]);
  if (!run)
    exit(1);
  exit(run(argc, argv));
}

int picked_again(int argc, char **argv) {
  command *run = NULL;
  struct option options[] = {{"show", &run, show_bad}, {NULL, NULL, NULL}};
  int failures = 0;
  for (; argc > 1; argc--, argv++) {
    parse(options, argv[1]);
    if (run)
      failures += run(argc, argv);
  }
  return failures;
}
