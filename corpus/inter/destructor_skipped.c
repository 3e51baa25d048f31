/* The destructor exists, one path goes around it: the parent and each field it releases are lost. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct archive {
  char *path;
  int members;
};

struct archive *archive_open(const char *path) {
  struct archive *a = malloc(sizeof *a);
  if (!a)
    return NULL;
  a->path = strdup(path);
  if (!a->path) {
    free(a);
    return NULL;
  }
  a->members = (int)strlen(path) - 4;
  return a;
}

void archive_close(struct archive *a) {
  free(a->path);
  free(a);
}

int list_members_bad(const char *path, int verbose) {
  struct archive *a = archive_open(path); // LEAK x2
  if (!a)
    return -1;
  if (verbose > 3)
    return -2;
  puts(a->path);
  archive_close(a);
  return 0;
}

int list_members_ok(const char *path, int verbose) {
  struct archive *a = archive_open(path);
  if (!a)
    return -1;
  if (verbose > 3) {
    archive_close(a);
    return -2;
  }
  puts(a->path);
  archive_close(a);
  return 0;
}

int reopened_bad(const char *p, const char *q) {
  struct archive *a = archive_open(p); // LEAK x2
  if (!a || a->members == 0)
    a = archive_open(q); // LOST
  if (!a)
    return -1;
  archive_close(a);
  return 0;
}

int reopened_ok(const char *p, const char *q) {
  struct archive *a = archive_open(p);
  if (!a || a->members == 0) {
    if (a)
      archive_close(a);
    a = archive_open(q);
  }
  if (!a)
    return -1;
  archive_close(a);
  return 0;
}
