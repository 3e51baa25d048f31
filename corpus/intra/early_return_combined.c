/* One test for two allocations: when only one of them failed, the other is forgotten. */
#include <stdlib.h>
#include <string.h>

int both_or_none_bad(const char *user, const char *host) {
  char *u = strdup(user); // LEAK
  char *h = strdup(host); // LEAK
  if (!u || !h)
    return -1;
  u[0] = h[0];
  free(u);
  free(h);
  return 0;
}

int both_or_none_ok(const char *user, const char *host) {
  char *u = strdup(user);
  char *h = strdup(host);
  if (!u || !h) {
    free(u);
    free(h);
    return -1;
  }
  u[0] = h[0];
  free(u);
  free(h);
  return 0;
}

int sequence_bad(const char *user, const char *host) {
  char *u, *h;
  if ((u = strdup(user)) == NULL || (h = strdup(host)) == NULL) // LEAK
    return -1;
  u[0] = h[0];
  free(h);
  free(u);
  return 0;
}

int sequence_ok(const char *user, const char *host) {
  char *u, *h;
  if ((u = strdup(user)) == NULL)
    return -1;
  if ((h = strdup(host)) == NULL) {
    free(u);
    return -1;
  }
  u[0] = h[0];
  free(h);
  free(u);
  return 0;
}
