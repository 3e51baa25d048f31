/* A loop that meets a key in each turn and loses what it has made when one comes twice: all of that is one mistake. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct pair {
  const char *key, *value;
};

struct event {
  char *host, *user, *group, *command, *directory, *terminal;
};

void event_free(struct event *e) {
  if (!e)
    return;
  free(e->host);
  free(e->user);
  free(e->group);
  free(e->command);
  free(e->directory);
  free(e->terminal);
  free(e);
}

/* Told once, with their number. */
struct event *event_bad(const struct pair *pairs, int n) {
  struct event *e = calloc(1, sizeof *e);
  if (!e)
    return NULL;
  for (int i = 0; i < n; i++) {
    const struct pair *p = &pairs[i];
    if (!strcmp(p->key, "host"))
      e->host = strdup(p->value); // LEAK D003, LOST
    else if (!strcmp(p->key, "user"))
      e->user = strdup(p->value);
    else if (!strcmp(p->key, "group"))
      e->group = strdup(p->value);
    else if (!strcmp(p->key, "command"))
      e->command = strdup(p->value);
    else if (!strcmp(p->key, "directory"))
      e->directory = strdup(p->value);
    else if (!strcmp(p->key, "terminal"))
      e->terminal = strdup(p->value);
    if (p->value[0] == 0)
      goto fail;
  }
  return e;
fail:
  event_free(e);
  return NULL;
}

/* A few are told each by itself. */
struct event *few_bad(const struct pair *pairs, int n) {
  struct event *e = calloc(1, sizeof *e);
  if (!e)
    return NULL;
  for (int i = 0; i < n; i++) {
    const struct pair *p = &pairs[i];
    if (!strcmp(p->key, "host"))
      e->host = strdup(p->value); // LEAK D003, LOST
    else if (!strcmp(p->key, "user"))
      e->user = strdup(p->value); // LEAK D003, LOST
    if (p->value[0] == 0)
      goto fail;
  }
  return e;
fail:
  event_free(e);
  return NULL;
}

static void set(char **field, const char *value) {
  free(*field);
  *field = strdup(value);
}

struct event *event_ok(const struct pair *pairs, int n) {
  struct event *e = calloc(1, sizeof *e);
  if (!e)
    return NULL;
  for (int i = 0; i < n; i++) {
    const struct pair *p = &pairs[i];
    if (!strcmp(p->key, "host"))
      set(&e->host, p->value);
    else if (!strcmp(p->key, "user"))
      set(&e->user, p->value);
    else if (!strcmp(p->key, "group"))
      set(&e->group, p->value);
    else if (!strcmp(p->key, "command"))
      set(&e->command, p->value);
    else if (!strcmp(p->key, "directory"))
      set(&e->directory, p->value);
    else if (!strcmp(p->key, "terminal"))
      set(&e->terminal, p->value);
  }
  return e;
}

/* What is lost otherwise in such a loop is another matter. */
struct event *early_bad(const struct pair *pairs, int n) {
  struct event *e = calloc(1, sizeof *e);
  if (!e)
    return NULL;
  for (int i = 0; i < n; i++) {
    const struct pair *p = &pairs[i];
    char *copy = strdup(p->value); // LEAK
    if (!strcmp(p->key, "end"))
      break;
    if (!strcmp(p->key, "host"))
      set(&e->host, p->value);
    free(copy);
  }
  return e;
}

/* Whether the value is empty, and how many keys there were, tells nothing of a key that comes twice. */
struct instance {
  char *name, *group;
};

struct instance *load_ok(FILE *in) {
  struct instance *instance = calloc(1, sizeof *instance);
  char line[100];
  int count = 0;
  if (!instance)
    return NULL;
  while (fgets(line, sizeof line, in)) {
    char *value = strchr(line, '=');
    if (!value)
      continue;
    *value++ = '\0';
    if (!strcmp(line, "name") && ++count)
      instance->name = *value ? strdup(value) : NULL;
    else if (!strcmp(line, "group") && ++count)
      instance->group = *value ? strdup(value) : NULL;
  }
  if (count > 100)
    exit(1);
  return instance;
}

/* What each line makes is lost with each line. */
struct instance *load_bad(FILE *in) {
  struct instance *instance = calloc(1, sizeof *instance);
  char line[100];
  if (!instance)
    return NULL;
  while (fgets(line, sizeof line, in)) {
    instance->name = *line ? strdup(line) : NULL; // LEAK
  }
  return instance;
}
