// A chain that a function takes apart again where it fails: it has made the nodes itself, and what others put into them later is not there.
#include <stdlib.h>
#include <string.h>

struct zone {
  char *name;
  char *salt;
  struct zone *parent;
};

static struct zone *zone_new(const char *name) {
  struct zone *z = calloc(1, sizeof *z);
  if (!z)
    return NULL;
  z->name = strdup(name);
  if (!z->name) {
    free(z);
    return NULL;
  }
  return z;
}

struct zone *chain_ok(const char **names, int n) {
  struct zone *first = NULL, *prev = NULL;
  for (int i = 0; i < n; i++) {
    struct zone *z = zone_new(names[i]);
    if (!z) {
      struct zone *p = first, *next;
      while (p) {
        next = p->parent;
        free(p->name);
        free(p);
        p = next;
      }
      return NULL;
    }
    if (prev)
      prev->parent = z;
    else
      first = z;
    prev = z;
  }
  return first;
}

void set_salt(struct zone *z, const char *salt) {
  char *copy = strdup(salt);
  if (copy) {
    free(z->salt);
    z->salt = copy;
  }
}

void zone_delete(struct zone *z) {
  free(z->name);
  free(z->salt);
  free(z);
}

void chain_delete(struct zone *z) {
  while (z) {
    struct zone *next = z->parent;
    free(z->name);
    free(z->salt);
    free(z);
    z = next;
  }
}

struct host {
  char *name;
  char *salt;
  struct host *next;
};

struct hosts {
  struct host *first;
};

int add_host(struct hosts *all, const char *name) {
  struct host *h = calloc(1, sizeof *h);
  if (!h)
    return -1;
  h->name = strdup(name);
  h->next = all->first;
  all->first = h;
  return 0;
}

void set_host_salt(struct host *h, const char *salt) {
  char *copy = strdup(salt); // LEAK D004
  if (copy) {
    free(h->salt);
    h->salt = copy;
  }
}

void host_delete(struct host *h) {
  free(h->name);
  free(h->salt);
  free(h);
}

// These have been filled by others.
void drop_hosts_bad(struct hosts *all) {
  struct host *h = all->first, *next;
  while (h) {
    next = h->next;
    free(h->name);
    free(h); // LOST
    h = next;
  }
  all->first = NULL;
}
