/* A function loses a block and hands up that it failed; callers gather that in bits, or find a text, by which the program ends. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WARNING = 1, ALERT = 2, ABORT = 4, FATAL = 8 };

typedef int parser(char **words);

struct rule {
  char *name, *value;
};

static struct rule *rules[16];
static int count;

/* The owner is freed, what it holds is not. */
static struct rule *rule_ok(char **words) {
  struct rule *rule = malloc(sizeof *rule);
  if (!rule)
    return NULL;
  rule->name = strdup(words[1]);
  rule->value = words[2] ? strdup(words[2]) : NULL;
  if (!rule->name || !rule->value) {
    free(rule);
    return NULL;
  }
  return rule;
}

static struct rule *rule_bad(char **words) {
  struct rule *rule = malloc(sizeof *rule);
  if (!rule)
    return NULL;
  rule->name = strdup(words[1]); // LEAK
  rule->value = words[2] ? strdup(words[2]) : NULL; // LEAK
  if (!rule->name || !rule->value) {
    free(rule);
    return NULL;
  }
  return rule;
}

static int parse_strict(char **words) {
  struct rule *rule;
  int result = 0;
  if (!words[1]) {
    result |= WARNING;
    goto out;
  }
  rule = rule_ok(words);
  if (!rule) {
    result |= ALERT | ABORT;
    goto out;
  }
  rules[count++] = rule;
out:
  return result;
}

static int parse_loose(char **words) {
  struct rule *rule;
  int result = 0;
  if (!words[1]) {
    result |= WARNING;
    goto out;
  }
  rule = rule_bad(words);
  if (!rule) {
    result |= ALERT;
    goto out;
  }
  rules[count++] = rule;
out:
  return result;
}

static const struct section {
  const char *name;
  parser *parse;
} sections[] = {{"strict", parse_strict}, {"loose", parse_loose}};

static int read_rules(FILE *in, const struct section *section) {
  char line[256], *words[3];
  int errors = 0;
  while (fgets(line, sizeof line, in)) {
    words[0] = strtok(line, " ");
    words[1] = strtok(NULL, " ");
    words[2] = strtok(NULL, " ");
    errors |= section->parse(words);
    if (errors & ABORT)
      break;
  }
  return errors;
}

/* Bits that are gathered until the end. */
static int note_ok(const char *line) {
  char *copy = strdup(line);
  if (*line == '#')
    return FATAL;
  free(copy);
  return 0;
}

static int note_bad(const char *line) {
  char *copy = strdup(line); // LEAK
  if (*line == '#')
    return WARNING;
  free(copy);
  return 0;
}

static int read_notes(FILE *in) {
  char line[256];
  int errors = 0;
  while (fgets(line, sizeof line, in)) {
    errors |= note_ok(line);
    errors |= note_bad(line);
  }
  return errors;
}

/* A text says what went wrong. */
static void check_ok(const char *line, const char **error) {
  char *copy = strdup(line);
  if (*line == '#') {
    *error = "no comments here";
    return;
  }
  free(copy);
}

static void check_bad(const char *line, const char **error) {
  char *copy = strdup(line); // LEAK
  if (*line == '#') {
    *error = NULL;
    return;
  }
  free(copy);
}

void read_all(FILE *in, int which) {
  const char *error = NULL;
  int errors = read_rules(in, &sections[which]);
  if (errors & (ABORT | FATAL))
    exit(1);
  errors |= read_notes(in);
  if (errors & (ABORT | FATAL))
    exit(1);
  check_ok(rules[0]->name, &error);
  if (error) {
    puts(error);
    exit(1);
  }
  check_bad(rules[0]->name, &error);
  if (error) {
    puts(error);
    exit(1);
  }
}
