/* A field of a local struct is overwritten while it owns a block. */
#include <stdlib.h>
#include <string.h>

struct url {
  char *host;
  char *path;
  int port;
};

int split_bad(const char *s) {
  struct url u = {NULL, NULL, 80};
  u.host = strdup(s); // LEAK
  u.path = strdup("/");
  if (u.host && u.host[0] == '[')
    u.host = strdup("localhost"); // LOST
  int port = u.port;
  free(u.path);
  free(u.host);
  return port;
}

int split_ok(const char *s) {
  struct url u = {NULL, NULL, 80};
  u.host = strdup(s);
  u.path = strdup("/");
  if (u.host && u.host[0] == '[') {
    free(u.host);
    u.host = strdup("localhost");
  }
  int port = u.port;
  free(u.path);
  free(u.host);
  return port;
}

int heap_parent_bad(const char *s) {
  struct url *u = calloc(1, sizeof *u);
  if (!u)
    return -1;
  u->path = strdup(s); // LEAK
  u->path = NULL;      // LOST
  free(u->path);
  free(u);
  return 0;
}

int heap_parent_ok(const char *s) {
  struct url *u = calloc(1, sizeof *u);
  if (!u)
    return -1;
  u->path = strdup(s);
  free(u->path);
  u->path = NULL;
  free(u->path);
  free(u);
  return 0;
}

void whole_struct_bad(const char *s) {
  struct url u;
  u.host = strdup(s); // LEAK
  u.path = NULL;
  u = (struct url){NULL, NULL, 443}; // LOST
  free(u.host);
}

void whole_struct_ok(const char *s) {
  struct url u;
  u.host = strdup(s);
  u.path = NULL;
  free(u.host);
  u = (struct url){NULL, NULL, 443};
  free(u.host);
}
