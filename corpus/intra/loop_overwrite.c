/* The second round of a loop overwrites what the first round allocated. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int join_args_bad(int argc, char **argv) {
  char *arg = NULL;
  for (int i = 0; i < argc; i++)
    arg = strdup(argv[i]); // LEAK // LOST
  if (arg)
    puts(arg);
  free(arg);
  return argc;
}

int join_args_ok(int argc, char **argv) {
  char *arg = NULL;
  for (int i = 0; i < argc; i++) {
    free(arg);
    arg = strdup(argv[i]);
  }
  if (arg)
    puts(arg);
  free(arg);
  return argc;
}

struct opts {
  char *output;
  int level;
};

int option_given_twice_bad(int argc, char **argv) {
  struct opts o = {NULL, 0};
  for (int i = 1; i < argc; i++) {
    switch (argv[i][0]) {
    case 'o':
      o.output = strdup(argv[i] + 1); // LEAK // LOST
      break;
    case 'v':
      o.level++;
      break;
    }
  }
  free(o.output);
  return o.level;
}

int option_given_twice_ok(int argc, char **argv) {
  struct opts o = {NULL, 0};
  for (int i = 1; i < argc; i++) {
    switch (argv[i][0]) {
    case 'o':
      free(o.output);
      o.output = strdup(argv[i] + 1);
      break;
    case 'v':
      o.level++;
      break;
    }
  }
  free(o.output);
  return o.level;
}

void scratch_each_round_bad(int n) {
  for (int i = 0; i < n; i++) {
    char *tmp = malloc(32); // LEAK
    if (tmp)
      snprintf(tmp, 32, "%d", i);
  }
}

void scratch_each_round_ok(int n) {
  for (int i = 0; i < n; i++) {
    char *tmp = malloc(32);
    if (tmp)
      snprintf(tmp, 32, "%d", i);
    free(tmp);
  }
}
