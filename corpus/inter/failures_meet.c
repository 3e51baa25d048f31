// A structure that is given up where several failures meet. Which of them it was the path knows, and so what is returned.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct keys {
  char *name;
  char *text;
};

static int check(const char *text) {
  return strlen(text) > 7 ? -3 : 0;
}

static int load_ok(struct keys **to, const char *text) {
  struct keys *k;
  int r;
  if (!(k = calloc(1, sizeof *k))) {
    r = -1;
    goto out;
  }
  if (!(k->name = strdup(text))) {
    r = -1;
    goto out;
  }
  if ((r = check(text)) != 0)
    goto out;
  if (text[0] == '-') {
    r = -4;
    goto out;
  }
  *to = k;
  k = NULL;
  r = 0;
out:
  free(k);
  return r;
}

static int load_bad(struct keys **to, const char *text) {
  struct keys *k;
  int r;
  if (!(k = calloc(1, sizeof *k))) {
    r = -1;
    goto out;
  }
  if (!(k->name = strdup(text))) { // LEAK D004
    r = -1;
    goto out;
  }
  if ((r = check(text)) != 0)
    goto out;
  if (text[0] == '-') {
    r = -4;
    goto out;
  }
  *to = k;
  k = NULL;
  r = 0;
out:
  free(k); // LOST
  return r;
}

struct keys *loaded_or_ended(const char *text) {
  struct keys *k = NULL;
  int r = load_ok(&k, text);
  if (r != 0) {
    fprintf(stderr, "failed: %d\n", r);
    exit(1);
  }
  return k;
}

struct keys *loaded_if_possible(const char *text) {
  struct keys *k = NULL;
  int r = load_bad(&k, text);
  if (r != 0) {
    fprintf(stderr, "failed: %d\n", r);
    return NULL;
  }
  return k;
}
