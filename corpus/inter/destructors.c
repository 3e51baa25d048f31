/* Constructors and destructors of structs; one destructor forgets a field. */
#include <stdlib.h>
#include <string.h>

struct session {
  char *user;
  char *token;
  int fd;
};

struct session *session_new(const char *user, const char *token) {
  struct session *s = calloc(1, sizeof(*s));
  if (s == NULL)
    return NULL;
  s->user = strdup(user);
  s->token = strdup(token);
  if (!s->user || !s->token) {
    free(s->user);
    free(s->token);
    free(s);
    return NULL;
  }
  s->fd = -1;
  return s;
}

void session_free(struct session *s) {
  if (s == NULL)
    return;
  free(s->user);
  free(s->token);
  free(s);
}

void session_drop(struct session *s) {
  if (s == NULL)
    return;
  free(s->user);
  free(s);
}

int forgotten_field_bad(const char *u, const char *t) {
  struct session *s = session_new(u, t); // LEAK
  if (!s)
    return -1;
  int fd = s->fd;
  session_drop(s);
  return fd;
}

int forgotten_field_ok(const char *u, const char *t) {
  struct session *s = session_new(u, t);
  if (!s)
    return -1;
  int fd = s->fd;
  session_free(s);
  return fd;
}

int plain_free_bad(const char *u) {
  struct session *s = session_new(u, "secret");
  if (!s)
    return -1;
  free(s->user);
  s->user = strdup("nobody"); // LEAK
  free(s->token);
  free(s); // LOST
  return 0;
}

int plain_free_ok(const char *u) {
  struct session *s = session_new(u, "secret");
  if (!s)
    return -1;
  free(s->user);
  s->user = strdup("nobody");
  free(s->token);
  s->token = NULL;
  session_free(s);
  return 0;
}

int replaced_field_bad(const char *u, const char *t) {
  struct session *s = session_new(u, ""); // LEAK
  if (!s)
    return -1;
  s->token = strdup(t); // LOST
  session_free(s);
  return 0;
}

int replaced_field_ok(const char *u, const char *t) {
  struct session *s = session_new(u, "");
  if (!s)
    return -1;
  free(s->token);
  s->token = strdup(t);
  session_free(s);
  return 0;
}
