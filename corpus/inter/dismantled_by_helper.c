/* A helper's helper frees parts of a structure where it fails; who called it frees the structure. */
#include <stdlib.h>
#include <string.h>

struct auth {
  char *first, *second, *name;
};

static struct auth *make(const char *name) {
  struct auth *auth = calloc(1, sizeof *auth);
  if (!auth)
    return NULL;
  auth->name = strdup(name);
  return auth;
}

static void destroy(struct auth *auth) {
  free(auth->first);
  free(auth->second);
  free(auth->name);
  free(auth);
}

static int parse_parts_ok(struct auth *auth, const char *text) {
  if (*text == '!') {
    free(auth->first);
    free(auth->second);
    return -1;
  }
  return 0;
}

static int set_parts_ok(struct auth *auth, const char *text) {
  if (!strchr(text, '='))
    return 0;
  return parse_parts_ok(auth, text);
}

struct auth *begin_ok(const char *name, const char *text) {
  struct auth *auth = make(name);
  if (!auth)
    return NULL;
  if (set_parts_ok(auth, text) < 0) {
    destroy(auth);
    return NULL;
  }
  return auth;
}

struct session {
  char *first, *second, *name;
};

static struct session *begin(const char *name) {
  struct session *session = calloc(1, sizeof *session); // LEAK
  if (!session)
    return NULL;
  session->name = strdup(name);
  return session;
}

static void finish(struct session *session) {
  free(session->first);
  free(session->second);
  free(session->name);
  free(session);
}

static void drop_parts_bad(struct session *session) {
  free(session->first);
  free(session->second);
}

static void drop_bad(struct session *session) {
  drop_parts_bad(session);
}

static struct session *current;

void once(const char *name) {
  struct session *session = begin(name);
  if (session)
    finish(session);
}

void begin_bad(const char *name) {
  current = begin(name);
}

void end_bad(void) {
  drop_bad(current);
  current = NULL;
}
