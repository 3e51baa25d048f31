/* A function loses a block and leaves a number in memory behind, by which its callers end the program. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int quit, paused;

/* Sets a variable that the loop of its caller asks for. */
static void give_up_ok(const char *why) {
  char *text = strdup(why);
  puts(text);
  quit = 1;
}

static void pause_bad(const char *why) {
  char *text = strdup(why); // LEAK
  puts(text);
  paused = 1;
}

void serve(FILE *in) {
  char line[80];
  while (!quit) {
    if (!fgets(line, sizeof line, in))
      give_up_ok("end of input");
    if (line[0] == 'p')
      pause_bad("paused");
  }
  exit(0);
}

struct job {
  const char *name;
  int only_show;
  int failures;
};

/* Finds a field set by which its caller ends. */
static void read_input_ok(struct job *job) {
  char *text = strdup(job->name);
  if (!text) {
    job->failures++;
    return;
  }
  if (job->only_show) {
    puts(text);
    return;
  }
  free(text);
}

void run_shown(const char *name, int only_show) {
  struct job job = {name, only_show, 0};
  read_input_ok(&job);
  if (job.only_show || job.failures)
    exit(job.failures);
  puts("go on");
}

static void read_again_bad(struct job *job) {
  char *text = strdup(job->name); // LEAK
  if (!text) {
    job->failures++;
    return;
  }
  if (job->only_show) {
    puts(text);
    return;
  }
  free(text);
}

void run_on(const char *name, int only_show) {
  struct job job = {name, only_show, 0};
  read_again_bad(&job);
  if (job.failures)
    exit(job.failures);
  puts("go on");
}

/* A command that calls commands, as `help` does. */
typedef int command(int argc, char **argv);

static int run_command(int argc, char **argv);

static int help(int argc, char **argv) {
  return run_command(argc, argv);
}

static int list_ok(int argc, char **argv) {
  char *line = strdup(argv[0]);
  if (argc < 2)
    return 1;
  puts(line);
  free(line);
  return 0;
}

static const struct entry {
  const char *name;
  command *run;
} entries[] = {{"help", help}, {"list", list_ok}};

static int run_command(int argc, char **argv) {
  for (int i = 0; i < 2; i++)
    if (!strcmp(entries[i].name, argv[0]))
      return entries[i].run(argc - 1, argv + 1);
  return 2;
}

void one_command(int argc, char **argv) {
  exit(run_command(argc, argv));
}

/* The loop stops where a turn fails. */
static int step_ok(const char *line) {
  char *copy = strdup(line);
  if (*line == '#')
    return -1;
  free(copy);
  return 0;
}

static int step_bad(const char *line) {
  char *copy = strdup(line); // LEAK
  if (*line == '#')
    return -1;
  free(copy);
  return 0;
}

void steps(FILE *in) {
  char line[80];
  int failed = 0;
  while (fgets(line, sizeof line, in) && !failed)
    failed = step_ok(line);
  if (failed)
    exit(1);
  while (fgets(line, sizeof line, in))
    failed |= step_bad(line);
}
