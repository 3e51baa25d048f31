/* Structures of several kinds, each with functions of its own: what one kind fills is no matter of another kind's destructor. */
#include <stdlib.h>
#include <string.h>

struct map {
  int (*get)(struct map *map, const char *key);
  void (*close)(struct map *map);
  char *name;
  char *folded;
  char *label;
};

struct file_map {
  struct map map;
  int file;
};

static struct map *new_map(const char *name) {
  struct map *map = calloc(1, sizeof *map);
  if (!map)
    exit(1);
  map->name = strdup(name);
  return map;
}

static void free_map(struct map *map) {
  free(map->name);
  free(map);
}

/* Folds the key, and frees what that takes. */
static int file_get(struct map *map, const char *key) {
  if (!map->folded)
    map->folded = malloc(100);
  if (!map->folded)
    exit(1);
  strncpy(map->folded, key, 100);
  return map->folded[0] == map->name[0];
}

static void file_close(struct map *map) {
  free(map->folded);
  free(map->label);
  free_map(map);
}

struct map *file_open(const char *name) {
  struct map *map = new_map(name);
  map->get = file_get;
  map->close = file_close;
  return map;
}

/* Never folds anything, but may have a label. */
static int fixed_get(struct map *map, const char *key) {
  return strcmp(key, map->name) == 0;
}

static void fixed_close(struct map *map) {
  free_map(map);
}

struct map *fixed_open(const char *name) {
  struct map *map = new_map(name);
  map->get = fixed_get;
  map->close = fixed_close;
  return map;
}

int label_bad(struct map *map, const char *label) {
  free(map->label);
  map->label = strdup(label); // LEAK
  return map->label != NULL;
}

void map_close(struct map *map) {
  map->close(map);
}

/* A reader is released by somebody's operations before its memory is freed, a writer by nobody's. */
struct reader {
  int (*release)(struct reader *reader);
  char *name;
  void *data;
};

struct writer {
  int (*release)(void);
  char *name;
  void *data;
};

static int plain_release(struct reader *reader) {
  free(reader->data);
  reader->data = NULL;
  return 0;
}

void reader_fill_ok(struct reader *reader) {
  reader->data = malloc(100);
}

struct reader *reader_new(const char *name, int (*release)(struct reader *reader)) {
  struct reader *reader = calloc(1, sizeof *reader);
  if (!reader)
    exit(1);
  reader->release = release ? release : plain_release;
  reader->name = strdup(name);
  return reader;
}

void reader_free(struct reader *reader) {
  if (reader->release)
    reader->release(reader);
  free(reader->name);
  free(reader);
}

void writer_empty(struct writer *writer) {
  free(writer->data);
  writer->data = NULL;
}

void writer_fill_bad(struct writer *writer) {
  writer->data = malloc(100); // LEAK
}

struct writer *writer_new(const char *name, int (*release)(void)) {
  struct writer *writer = calloc(1, sizeof *writer);
  if (!writer)
    exit(1);
  writer->release = release;
  writer->name = strdup(name);
  return writer;
}

void writer_free(struct writer *writer) {
  if (writer->release)
    writer->release();
  free(writer->name);
  free(writer);
}
