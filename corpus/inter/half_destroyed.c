/* Destructors that take a structure apart and do not free it: no caller has it in a variable, so no path of a caller shows it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int flush_log(void);

/* Nobody frees the structure itself. */
struct watcher {
  char *buffer;
  int id;
};

static struct watcher *watchers[16];

int watcher_add_bad(int id) {
  struct watcher *w = calloc(1, sizeof *w); // LEAK D001
  if (!w)
    return -1;
  w->buffer = malloc(100);
  w->id = id;
  watchers[id % 16] = w;
  return 0;
}

void watcher_close_bad(struct watcher *w) {
  watchers[w->id % 16] = NULL;
  free(w->buffer); // LOST
}

struct reader {
  char *buffer;
  int id;
};

static struct reader *readers[16];

int reader_add_ok(int id) {
  struct reader *r = calloc(1, sizeof *r);
  if (!r)
    return -1;
  r->buffer = malloc(100);
  r->id = id;
  readers[id % 16] = r;
  return 0;
}

void reader_close_ok(struct reader *r) {
  readers[r->id % 16] = NULL;
  free(r->buffer);
  free(r);
}

/* Emptied to be used again. */
struct slot {
  char *text;
  int used;
};

static struct slot *slots[16];

int slot_add_ok(int id) {
  struct slot *s = calloc(1, sizeof *s);
  if (!s)
    return -1;
  slots[id % 16] = s;
  return 0;
}

void slot_fill_ok(struct slot *s, const char *text) {
  if (!s->used)
    s->text = strdup(text);
  s->used = 1;
}

void slot_clear_ok(struct slot *s) {
  free(s->text);
  s->used = 0;
}

/* A failure in the middle. */
struct writer {
  char *path, *buffer;
};

static struct writer *writers[16];

int writer_add_bad(const char *path, int id) {
  struct writer *w = calloc(1, sizeof *w); // LEAK D002
  if (!w)
    return -1;
  w->path = strdup(path);
  w->buffer = malloc(100);
  writers[id % 16] = w;
  return 0;
}

int writer_close_bad(struct writer *w) {
  free(w->buffer);
  if (flush_log() != 0)
    return -1;
  free(w->path);
  free(w);
  return 0;
}

/* Counted references and borrowed structures are freed or not by what they say themselves. */
struct shared {
  char *text;
  int refs, is_static;
};

static struct shared *all_shared[16];

int shared_add_ok(const char *text, int id) {
  struct shared *s = calloc(1, sizeof *s);
  if (!s)
    return -1;
  s->text = strdup(text);
  s->refs = 1;
  all_shared[id % 16] = s;
  return 0;
}

void shared_drop_ok(struct shared *s) {
  if (--s->refs > 0)
    return;
  free(s->text);
  if (s->is_static)
    return;
  free(s);
}

/* Elements of an array that a destructor forgets. */
struct bar {
  char **labels_bad, **labels_ok;
};

struct bar *bar_new(const char *const *texts, int n) {
  struct bar *b = calloc(1, sizeof *b);
  if (!b)
    exit(1);
  b->labels_bad = calloc(16, sizeof(char *));
  b->labels_ok = calloc(16, sizeof(char *));
  if (!b->labels_bad || !b->labels_ok)
    exit(1);
  for (int i = 0; i < n && i < 16; i++)
    b->labels_bad[i] = strdup(texts[i]); // LEAK D004
  for (int i = 0; i < n && i < 16; i++)
    b->labels_ok[i] = strdup(texts[i]);
  return b;
}

void bar_free(struct bar *b) {
  for (int i = 0; i < 16; i++)
    free(b->labels_ok[i]);
  free(b->labels_ok);
  free(b->labels_bad); // LOST
  free(b);
}

/* A destructor that gives up and does not say so. */
struct sink {
  char *path;
};

static struct sink *sinks[16];

int sink_add_bad(const char *path, int id) {
  struct sink *s = calloc(1, sizeof *s); // LEAK D002
  if (!s)
    return -1;
  s->path = strdup(path);
  sinks[id % 16] = s;
  return 0;
}

void sink_close_bad(struct sink *s) {
  if (flush_log() != 0)
    return;
  free(s->path);
  free(s);
}

/* One that says so. */
struct source {
  char *path;
};

static struct source *sources[16];

int source_add_ok(const char *path, int id) {
  struct source *s = calloc(1, sizeof *s);
  if (!s)
    return -1;
  s->path = strdup(path);
  sources[id % 16] = s;
  return 0;
}

int source_close_ok(struct source *s) {
  if (flush_log() != 0)
    return -1;
  free(s->path);
  free(s);
  return 0;
}
