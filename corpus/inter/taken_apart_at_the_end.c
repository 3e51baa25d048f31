/* A structure is taken apart and not freed: where the program ends right after that nobody misses it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct failure_ok {
  struct failure_ok *next;
  char *what;
};
static struct failure_ok *failures_ok;

void failed_ok(const char *what) {
  struct failure_ok *f = malloc(sizeof *f);
  if (!f)
    exit(2);
  f->what = strdup(what);
  f->next = failures_ok;
  failures_ok = f;
}

static int tell_ok(void) {
  int n = 0;
  while (failures_ok) {
    fprintf(stderr, "%s\n", failures_ok->what);
    free(failures_ok->what);
    failures_ok = failures_ok->next;
    n++;
  }
  return n;
}

void finish_ok(void) { exit(tell_ok() ? 1 : 0); }

struct failure_bad {
  struct failure_bad *next;
  char *what;
};
static struct failure_bad *failures_bad;

void failed_bad(const char *what) {
  struct failure_bad *f = malloc(sizeof *f); // LEAK D001
  if (!f)
    exit(2);
  f->what = strdup(what);
  f->next = failures_bad;
  failures_bad = f;
}

static int tell_bad(void) {
  int n = 0;
  while (failures_bad) {
    fprintf(stderr, "%s\n", failures_bad->what);
    free(failures_bad->what);
    failures_bad = failures_bad->next;
    n++;
  }
  return n;
}

int next_file(const char *name) {
  int n = tell_bad();
  printf("%s\n", name);
  return n;
}
