/* A destructor that frees what a structure holds, and forgets the structure, although its twin does not. */
#include <stdlib.h>
#include <string.h>

struct file {
  int mode, error;
  char *in, *out, *path;
};

struct file *file_open(const char *path, int mode) {
  struct file *f = calloc(1, sizeof(*f)); // LEAK D001
  if (!f)
    return NULL;
  f->mode = mode;
  f->path = strdup(path);
  f->in = malloc(64);
  f->out = malloc(64);
  return f;
}

static void clear_error(struct file *f) {
  f->error = 0;
}

int file_close_reader_bad(struct file *f) {
  if (f->mode != 0)
    return -1;
  free(f->in);
  free(f->out);
  clear_error(f);
  free(f->path); // LOST
  return 0;
}

int file_close_writer_ok(struct file *f) {
  if (f->mode != 1)
    return -1;
  free(f->in);
  free(f->out);
  clear_error(f);
  free(f->path);
  free(f);
  return 0;
}

int file_close(struct file *f) {
  return f->mode == 0 ? file_close_reader_bad(f) : file_close_writer_ok(f);
}

/* One part alone may be replaced later. */
struct pane {
  char *title, *screen;
};

struct pane *pane_new(const char *s) {
  struct pane *p = calloc(1, sizeof(*p));
  if (!p)
    return NULL;
  p->title = strdup(s);
  p->screen = malloc(64);
  return p;
}

void pane_close_ok(struct pane *p) {
  free(p->screen);
}

void pane_free_ok(struct pane *p) {
  free(p->title);
  free(p->screen);
  free(p);
}
