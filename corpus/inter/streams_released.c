/* Classes of streams: the destructor of each class frees what its stream holds, and whoever calls it through the table frees the stream
 * itself, which it reads anew from where it is kept. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct stream;

struct class {
  int (*read)(struct stream *, char *, int);
  int (*release)(struct stream *);
};

struct stream {
  const struct class *class;
  int refs;
};

struct mapped {
  const struct class *class;
  int refs;
  int *map;
  int size;
};

static int mapped_read(struct stream *stream, char *to, int n) {
  struct mapped *mapped = (struct mapped *)stream;
  for (int i = 0; i < n && i < mapped->size; i++)
    to[i] = (char)mapped->map[i];
  return n;
}

static int mapped_release(struct stream *stream) {
  struct mapped *mapped = (struct mapped *)stream;
  free(mapped->map);
  return 0;
}

static const struct class mapped_class = {mapped_read, mapped_release};

struct stream *mapped_open_ok(int size) {
  struct mapped *mapped = calloc(1, sizeof *mapped);
  if (!mapped)
    return NULL;
  mapped->class = &mapped_class;
  mapped->refs = 1;
  mapped->size = size;
  mapped->map = calloc((size_t)size, sizeof *mapped->map);
  if (!mapped->map) {
    free(mapped);
    return NULL;
  }
  return (struct stream *)mapped;
}

int stream_close_ok(struct stream **stream) {
  int status = 0;
  if (!*stream)
    return -1;
  if (--(*stream)->refs == 0) {
    if ((*stream)->class->release)
      status = (*stream)->class->release(*stream);
    free(*stream);
  }
  *stream = NULL;
  return status;
}

/* Nobody frees the structure: who calls the destructor puts the pointer to null. */
struct job;

struct kind {
  int (*run)(struct job *);
  int (*release)(struct job *);
};

struct job {
  const struct kind *kind;
};

struct copying {
  const struct kind *kind;
  char *from;
};

static int copying_run(struct job *job) {
  struct copying *copying = (struct copying *)job;
  return access(copying->from, R_OK);
}

static int copying_release(struct job *job) {
  struct copying *copying = (struct copying *)job;
  free(copying->from); // LOST
  return 0;
}

static const struct kind copying_kind = {copying_run, copying_release};

struct job *copying_start_bad(const char *from) {
  struct copying *copying = calloc(1, sizeof *copying); // LEAK D001
  if (!copying)
    return NULL;
  copying->kind = &copying_kind;
  copying->from = strdup(from);
  return (struct job *)copying;
}

int job_end_bad(struct job **job) {
  int status = 0;
  if ((*job)->kind->release)
    status = (*job)->kind->release(*job);
  *job = NULL;
  return status;
}
