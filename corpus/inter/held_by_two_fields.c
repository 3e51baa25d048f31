/* A function grows an array and leaves a pointer to its newest element in another field: the array's field owns both. */
#include <stdlib.h>
#include <string.h>

struct server {
  char *name;
  int port;
};

struct config {
  struct server *servers;
  int count;
  struct server *current;
  char *note;
  char *shown;
};

static int add(struct server **servers, int *count, struct server **current, int port) {
  struct server *grown = realloc(*servers, (*count + 1) * sizeof *grown);
  if (!grown)
    return -1;
  *servers = grown;
  grown += *count;
  ++*count;
  *current = grown;
  memset(grown, 0, sizeof *grown);
  grown->port = port;
  return 0;
}

static int set_note(char **note, const char *text) {
  char *copy = strdup(text);
  if (!copy)
    return -1;
  *note = copy;
  return 0;
}

int configure_ok(struct config *config, const char *key, int value) {
  if (!strcmp(key, "server"))
    return add(&config->servers, &config->count, &config->current, value);
  if (config->current && !strcmp(key, "port"))
    config->current->port = value;
  return 0;
}

int note_bad(struct config *config, const char *text) {
  return set_note(&config->note, text); // LEAK
}

struct config *new_config(void) {
  return calloc(1, sizeof(struct config));
}

/* Forgets the note; the current server is one of the array. */
void free_config(struct config *config) {
  for (int i = 0; i < config->count; i++)
    free(config->servers[i].name);
  free(config->servers);
  free(config);
}
