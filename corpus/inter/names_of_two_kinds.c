// A field that some structures fill with a copy and others with a constant text. A destructor that leaves it alone is that of the others.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct input {
  char *name;
  void (*close)(struct input *);
};

struct file_input {
  struct input base;
  FILE *file;
};

struct list_input {
  struct input base;
  char **list;
};

static void file_close(struct input *in) {
  struct file_input *file = (struct file_input *)in;
  fclose(file->file);
  free(file->base.name);
  free(file);
}

static void list_close(struct input *in) {
  struct list_input *list = (struct list_input *)in;
  free(list);
}

struct input *file_open(const char *name) {
  struct file_input *in = calloc(1, sizeof *in);
  if (!in)
    return NULL;
  in->file = fopen(name, "r");
  if (!in->file) {
    free(in);
    return NULL;
  }
  in->base.name = strdup(name);
  in->base.close = file_close;
  return &in->base;
}

struct input *list_open(char **list) {
  struct list_input *in = calloc(1, sizeof *in);
  if (!in)
    return NULL;
  in->base.name = "list";
  in->base.close = list_close;
  in->list = list;
  return &in->base;
}

void input_close(struct input *in) { in->close(in); }

struct output {
  char *title;
  int width;
};

void output_title(struct output *out, const char *title) {
  char *copy = strdup(title); // LEAK D004
  free(out->title);
  out->title = copy;
}

struct output *output_open(int width) {
  struct output *out = malloc(sizeof *out);
  if (!out)
    return NULL;
  out->title = NULL;
  out->width = width;
  return out;
}

void output_reset(struct output *out) {
  free(out->title);
  out->title = NULL;
}

// Here all titles are copies.
void output_close_bad(struct output *out) {
  free(out); // LOST
}
