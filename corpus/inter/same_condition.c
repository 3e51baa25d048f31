/* The same condition at the allocation and at the release: calls in between may change it, as far as anybody can tell, but don't. */
#include <stdlib.h>

int mode;

static struct {
  int count;
} queue;

int lookup(const char *name);
void draw(int row);

void enqueue(int n) { queue.count += n; }

void set_mode(const char *name) { mode = lookup(name); }

static void redraw(int row) {
  if (queue.count > 3)
    set_mode("x");
  draw(row);
}

int show_ok(int rows) {
  char *line = NULL;
  int i;
  if (mode == 5) {
    line = malloc(rows);
    if (!line)
      return 1;
    line[0] = 0;
  }
  for (i = 0; i < rows; i++)
    redraw(i);
  if (rows > 10)
    for (i = 0; i < rows; i++)
      redraw(i);
  if (mode == 5)
    free(line);
  return 0;
}

int show_bad(int rows) {
  char *line = NULL;
  int i;
  if (mode == 5) {
    line = malloc(rows); // LEAK
    if (!line)
      return 1;
    line[0] = 0;
  }
  for (i = 0; i < rows; i++)
    redraw(i);
  if (rows > 10)
    free(line);
  return 0;
}

/* A callee that is known to change it. */
struct stream {
  int is_open;
};

static void close_stream(struct stream *stream) { stream->is_open = 0; }

int copy_bad(struct stream *stream) {
  char *buffer = NULL;
  if (stream->is_open) {
    buffer = malloc(100); // LEAK
    if (!buffer)
      return 1;
    buffer[0] = 0;
  }
  close_stream(stream);
  if (stream->is_open)
    free(buffer);
  return 0;
}
