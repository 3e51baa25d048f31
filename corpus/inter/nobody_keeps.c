/* Blocks that are given to many functions, through tables too, of which none keeps or frees them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct screen;

struct screen_class {
  void (*scan)(struct screen *);
  void (*draw)(struct screen *);
};

struct mark {
  int attribute;
  int letters[5];
};

struct screen {
  const struct screen_class *class;
  int length;
  struct mark *shown;
  struct mark small[32];
  int lines;
};

int read_key(void);
void report(int lines);

static void screen_resize(struct screen *s, int length) {
  if (s->length <= 32 && length > 32) {
    struct mark *shown = malloc((size_t)length * sizeof *shown);
    if (!shown)
      abort();
    memcpy(shown, s->shown, (size_t)s->length * sizeof *shown);
    s->shown = shown;
  } else if (s->length > 32 && length <= 32) {
    memcpy(s->small, s->shown, (size_t)length * sizeof *s->shown);
    free(s->shown);
    s->shown = s->small;
  }
  s->length = length;
}

static void screen_text(struct screen *s, const char *text) {
  int length = (int)strlen(text);
  screen_resize(s, length);
  for (int i = 0; i < length; i++)
    s->shown[i] = (struct mark){.attribute = 1, .letters = {text[i]}};
}

static struct screen *screen_done(struct screen *s) {
  screen_resize(s, 0);
  return s;
}

static void screen_run(struct screen *s) {
  for (;;) {
    s->class->scan(s);
    s->class->draw(s);
    if (read_key() == 'q')
      break;
  }
}

static void files_scan(struct screen *s) {
  screen_text(s, "files");
  s->lines++;
}

static void files_draw(struct screen *s) { report(s->lines); }

static void locks_scan(struct screen *s) {
  screen_text(s, "locks");
  s->lines += 2;
}

static void locks_draw(struct screen *s) { report(s->lines + 1); }

static const struct screen_class files_class = {files_scan, files_draw};
static const struct screen_class locks_class = {locks_scan, locks_draw};

static struct screen *screen_new(const struct screen_class *class) {
  struct screen *s = calloc(1, sizeof *s);
  if (!s)
    abort();
  s->class = class;
  s->shown = s->small;
  return s;
}

static void screen_delete_bad(struct screen *s) { screen_done(s); }

static void screen_delete_ok(struct screen *s) { free(screen_done(s)); }

void show_files_bad(void) {
  struct screen *s = screen_new(&files_class); // LEAK D001
  screen_run(s);
  screen_delete_bad(s);
}

void show_locks_ok(void) {
  struct screen *s = screen_new(&locks_class);
  screen_run(s);
  screen_delete_ok(s);
}

/* Somebody keeps it. */
static struct screen *last_screen;

static void screen_remember(struct screen *s) { last_screen = s; }

void show_last_ok(void) {
  struct screen *s = screen_new(&locks_class);
  screen_run(s);
  screen_remember(s);
}

/* The function that makes it has put it into a list. */
struct value {
  struct value *next;
  char name[16];
};

struct values {
  struct value *first;
};

static struct value *value_add(struct values *all, const char *name) {
  struct value *v = calloc(1, sizeof *v);
  if (!v)
    abort();
  strncpy(v->name, name, sizeof v->name - 1);
  v->next = all->first;
  all->first = v;
  return v;
}

static void value_print(struct value *v) { printf("%s\n", v->name); }

void value_show_ok(struct values *all, const char *name) {
  struct value *v = value_add(all, name);
  value_print(v);
}

/* Each node is put where the last one ends. */
void values_read_ok(struct value **end, int n) {
  for (int i = 0; i < n; i++) {
    struct value *v = calloc(1, sizeof *v);
    if (!v)
      abort();
    value_print(v);
    *end = v;
    end = &v->next;
  }
}
