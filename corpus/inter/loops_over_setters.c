/* Fields and variables set again on the second round of a loop. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct config {
  char *root;
  char *index;
  int port;
};

static char *save(const char *s) {
  char *p = strdup(s);
  if (!p)
    abort();
  return p;
}

static void set_string(char **field, const char *v) {
  free(*field);
  *field = save(v);
}

static void put_string(char **field, const char *v) {
  *field = save(v);
}

int read_config_bad(FILE *f, struct config *c) {
  char line[64];
  c->root = c->index = NULL;
  while (fgets(line, sizeof line, f)) {
    if (line[0] == 'l')
      c->index = save(line); // LEAK // LOST
    else
      c->port++;
  }
  return c->port;
}

int read_config_ok(FILE *f, struct config *c) {
  char line[64];
  c->root = c->index = NULL;
  while (fgets(line, sizeof line, f)) {
    if (line[0] == 'l')
      set_string(&c->index, line);
    else
      c->port++;
  }
  return c->port;
}

int local_config_bad(FILE *f) {
  char line[64];
  struct config c = {NULL, NULL, 0};
  while (fgets(line, sizeof line, f))
    put_string(&c.root, line); // LEAK // LOST
  c.port = c.root ? c.root[0] : 0;
  free(c.root);
  return c.port;
}

int local_config_ok(FILE *f) {
  char line[64];
  struct config c = {NULL, NULL, 0};
  while (fgets(line, sizeof line, f))
    set_string(&c.root, line);
  c.port = c.root ? c.root[0] : 0;
  free(c.root);
  return c.port;
}

int twice_bad(const char *a, const char *b) {
  char *v = NULL;
  put_string(&v, a); // LEAK
  put_string(&v, b); // LOST
  free(v);
  return 0;
}

int twice_ok(const char *a, const char *b) {
  char *v = NULL;
  set_string(&v, a);
  set_string(&v, b);
  free(v);
  return 0;
}
