/* Allocates only through the hooks of the other file. */
#include "memdebug.h"
#include <string.h>

struct conn {
  char *host;
  char *user;
};

int set_login_bad(struct conn *c, const char *user, const char *host) {
  char *u = h_strdup(user); // LEAK
  if (!u)
    return 27;
  char *h = h_strdup(host);
  if (!h)
    return 27;
  Safefree(c->user);
  Safefree(c->host);
  c->user = u;
  c->host = h;
  return 0;
}

int set_login_ok(struct conn *c, const char *user, const char *host) {
  char *u = h_strdup(user);
  if (!u)
    return 27;
  char *h = h_strdup(host);
  if (!h) {
    h_free(u);
    return 27;
  }
  Safefree(c->user);
  Safefree(c->host);
  c->user = u;
  c->host = h;
  return 0;
}

int escape_bad(const char *in, size_t len) {
  char *ns = h_malloc(len * 3 + 1); // LEAK
  if (!ns)
    return -1;
  size_t n = 0;
  for (size_t i = 0; i < len; i++) {
    if (in[i] == 0)
      return -1;
    ns[n++] = in[i];
  }
  h_free(ns);
  return (int)n;
}

int escape_ok(const char *in, size_t len) {
  char *ns = h_malloc(len * 3 + 1);
  if (!ns)
    return -1;
  size_t n = 0;
  for (size_t i = 0; i < len; i++) {
    if (in[i] == 0) {
      Safefree(ns);
      return -1;
    }
    ns[n++] = in[i];
  }
  h_free(ns);
  return (int)n;
}
