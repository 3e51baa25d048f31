/* Functions that take ownership only when they succeed. */
#include <stdlib.h>
#include <string.h>

struct name {
  char *value;
  int locked;
};

struct outbox {
  char *msg[4];
  int n;
};

static int name_set0(struct name *n, char *v) {
  if (n->locked)
    return 0;
  free(n->value);
  n->value = v;
  return 1;
}

static int outbox_send(struct outbox *o, char *m) {
  if (o->n >= 4)
    return -1;
  o->msg[o->n++] = m;
  return 0;
}

static int consume_always(struct outbox *o, char *m) {
  if (o->n >= 4) {
    free(m);
    return -1;
  }
  o->msg[o->n++] = m;
  return 0;
}

int set_name_bad(struct name *n, const char *s) {
  char *v = strdup(s); // LEAK
  if (!v)
    return 0;
  if (!name_set0(n, v))
    return 0;
  return 1;
}

int set_name_ok(struct name *n, const char *s) {
  char *v = strdup(s);
  if (!v)
    return 0;
  if (!name_set0(n, v)) {
    free(v);
    return 0;
  }
  return 1;
}

int post_bad(struct outbox *o, const char *s) {
  char *m = strdup(s); // LEAK
  if (!m)
    return -1;
  return outbox_send(o, m);
}

int post_ok(struct outbox *o, const char *s) {
  char *m = strdup(s);
  if (!m)
    return -1;
  return consume_always(o, m);
}

int ignored_result_bad(struct outbox *o, const char *s) {
  char *m = strdup(s); // LEAK
  outbox_send(o, m);
  return o->n;
}

int ignored_result_ok(struct outbox *o, const char *s) {
  char *m = strdup(s);
  consume_always(o, m);
  return o->n;
}

int inverted_bad(struct outbox *o, const char *s) {
  char *m = strdup(s); // LEAK
  if (!m)
    return -1;
  int sent = outbox_send(o, m) == 0;
  if (sent)
    m = NULL;
  return sent;
}

int inverted_ok(struct outbox *o, const char *s) {
  char *m = strdup(s);
  if (!m)
    return -1;
  int sent = outbox_send(o, m) == 0;
  if (sent)
    m = NULL;
  free(m);
  return sent;
}

/* One who minds tells that the others have forgotten it. */
int post_or_free_ok(struct outbox *o, const char *s) {
  char *m = strdup(s);
  if (!m)
    return -1;
  if (outbox_send(o, m) != 0) {
    free(m);
    return -1;
  }
  return 0;
}
