/* A program of some size: what its commands lose on their way out through `main` nobody misses. The twins of program_fails.c, where the
 * program is small. */
#include "large.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int load_ok(const char *text) {
  char *copy = strdup(text);
  if (!copy)
    return -1;
  if (*copy == '#')
    return -1;
  free(copy);
  return 0;
}

static int skip_comment_bad(const char *text) {
  char *copy = strdup(text); // LEAK
  if (!copy)
    return -1;
  if (*copy == '#')
    return -2; // LOST
  free(copy);
  return 0;
}

/* Lost for every argument but the last. */
static int count_bad(const char *text) {
  char *copy = strdup(text); // LEAK
  if (*text == '!')
    return 3; // LOST
  free(copy);
  return 0;
}

/* The last of them is lost at the end, the others are lost before. */
static void show_all_bad(int argc, char **argv) {
  for (int i = 0; i < argc; i++) {
    char *copy = strdup(argv[i]); // LEAK
    puts(copy);
  }
}

struct setting {
  char *name;
  char *value;
};

/* Whoever frees the owner is tidying up. */
static void forget_bad(struct setting *setting) {
  free(setting);
}

static struct setting *set(const char *text) {
  struct setting *setting = malloc(sizeof *setting);
  if (!setting)
    exit(1);
  setting->name = strdup(text);
  setting->value = NULL;
  return setting;
}

int main(int argc, char **argv) {
  struct setting *setting;
  int total = 0;
  fill();
  if (load_ok(argv[0]) < 0) {
    fprintf(stderr, "cannot load\n");
    return 1;
  }
  if (skip_comment_bad(argv[0]) == -1)
    return 1;
  for (int i = 1; i < argc; i++)
    total += count_bad(argv[i]);
  setting = set(argv[0]); // LEAK
  puts(setting->name);
  forget_bad(setting); // LOST
  show_all_bad(argc, argv);
  return total;
}
