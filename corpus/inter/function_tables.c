/* Calls through tables, struct fields and parameters of function type. */
#include <stdlib.h>
#include <string.h>

struct stream {
  const struct stream_ops *ops;
  void *state;
};

struct stream_ops {
  int (*open)(struct stream *s, size_t n);
  int (*poll)(struct stream *s);
  void (*close)(struct stream *s);
};

static int mem_open(struct stream *s, size_t n) {
  s->state = malloc(n);
  return s->state ? 0 : -1;
}

static int mem_poll(struct stream *s) {
  return s->state != NULL;
}

static void mem_close(struct stream *s) {
  free(s->state);
  s->state = NULL;
}

static const struct stream_ops mem_ops = {mem_open, mem_poll, mem_close};

typedef void (*dtor_fn)(void *);

static void free_plain(void *p) {
  free(p);
}

static void touch(void *p) {
  *(volatile char *)p = 0;
}

static void with_dtor(void *p, dtor_fn d) {
  if (d)
    d(p);
}

static int cmd_dup(const char *s, char **out) {
  *out = strdup(s);
  return *out ? 0 : -1;
}

static int cmd_none(const char *s, char **out) {
  (void)s;
  *out = NULL;
  return 1;
}

static int (*const commands[])(const char *, char **) = {cmd_dup, cmd_none};

int stream_bad(size_t n) {
  struct stream s = {&mem_ops, NULL};
  if (s.ops->open(&s, n) < 0) // LEAK
    return -1;
  return s.ops->poll(&s);
}

int stream_ok(size_t n) {
  struct stream s = {&mem_ops, NULL};
  if (s.ops->open(&s, n) < 0)
    return -1;
  int r = s.ops->poll(&s);
  s.ops->close(&s);
  return r;
}

int by_parameter_bad(size_t n) {
  char *p = malloc(n + 1); // LEAK
  if (!p)
    return -1;
  with_dtor(p, touch);
  return 0;
}

int by_parameter_ok(size_t n) {
  char *p = malloc(n + 1);
  if (!p)
    return -1;
  with_dtor(p, free_plain);
  return 0;
}

int no_dtor_bad(size_t n) {
  char *p = malloc(n + 1); // LEAK[missed]: the table is indexed by a value that is not known
  with_dtor(p, NULL);
  return 0;
}

int no_dtor_ok(size_t n) {
  char *p = malloc(n + 1);
  with_dtor(p, free);
  return 0;
}

int command_bad(const char *s) {
  char *out;
  if (commands[0](s, &out) != 0) // LEAK
    return -1;
  return out[0];
}

int command_ok(const char *s) {
  char *out;
  if (commands[0](s, &out) != 0)
    return -1;
  int c = out[0];
  free(out);
  return c;
}
