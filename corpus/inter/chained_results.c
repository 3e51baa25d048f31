/* The result of one call decides what the next one owns. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reader {
  FILE *f;
  char *line;
};

static struct reader *reader_attach(FILE *f) {
  if (!f)
    return NULL;
  struct reader *r = malloc(sizeof *r);
  if (!r)
    return NULL;
  r->f = f;
  r->line = NULL;
  return r;
}

static const char *reader_next(struct reader *r) {
  char tmp[80];
  free(r->line);
  r->line = NULL;
  if (!fgets(tmp, sizeof tmp, r->f))
    return NULL;
  r->line = strdup(tmp);
  return r->line;
}

static void reader_close(struct reader *r) {
  free(r->line);
  free(r);
}

static const char *first_nonempty(const char *a, const char *b) {
  if (a && *a)
    return a;
  return b && *b ? b : "default";
}

static char *resolve(const char *a, const char *b) {
  return strdup(first_nonempty(a, b));
}

int read_one_bad(FILE *f) {
  struct reader *r = reader_attach(f);
  if (!r)
    return -1;
  const char *s = reader_next(r); // LEAK
  int c = s ? s[0] : 0;
  free(r);
  return c;
}

int read_one_ok(FILE *f) {
  struct reader *r = reader_attach(f);
  if (!r)
    return -1;
  const char *s = reader_next(r);
  int c = s ? s[0] : 0;
  reader_close(r);
  return c;
}

int handle_only_bad(FILE *f) {
  struct reader *r = reader_attach(f); // LEAK
  if (!r)
    return -1;
  if (feof(r->f))
    return 0;
  reader_close(r);
  return 1;
}

int handle_only_ok(FILE *f) {
  struct reader *r = reader_attach(f);
  if (!r)
    return -1;
  int end = feof(r->f);
  reader_close(r);
  return !end;
}

char *resolved_bad(const char *a, const char *b, int upper) {
  char *p = resolve(a, b); // LEAK
  if (p && upper && p[0] == 'd')
    return NULL;
  return p;
}

char *resolved_ok(const char *a, const char *b, int upper) {
  char *p = resolve(a, b);
  if (p && upper && p[0] == 'd')
    p[0] = 'D';
  return p;
}
