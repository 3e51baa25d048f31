/* Owners that are overwritten by somebody who does not look: the rest of the program tells that there is something. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int next_word(char *buffer, int size);
char *find_word(void);

/* A variable that every run of a function fills anew. */
static char *word_bad;
static char *word_ok;

static void take_word_bad(void) {
  char *found = find_word();
  word_bad = malloc(strlen(found) + 1); // LEAK D003 // LOST
  if (word_bad)
    strcpy(word_bad, found);
}

static void take_word_ok(void) {
  char *found = find_word();
  free(word_ok);
  word_ok = malloc(strlen(found) + 1);
  if (word_ok)
    strcpy(word_ok, found);
}

void words(void) {
  char buffer[80];
  while (next_word(buffer, sizeof buffer)) {
    take_word_bad();
    take_word_ok();
    if (word_bad && word_ok)
      printf("%s %s\n", word_bad, word_ok);
  }
}

/* Made once, whoever asks: a flag says so. */
static char *table_ok;
static int is_ready;

static void prepare_ok(void) {
  if (is_ready)
    return;
  is_ready = 1;
  table_ok = calloc(256, 1);
}

int lookup(int key) {
  int sum = 0;
  for (int i = 0; i < key; i++) {
    prepare_ok();
    sum += table_ok ? table_ok[i & 255] : 0;
  }
  return sum;
}

/* The same, whichever thread comes first. */
static char *names_ok;
static atomic_flag is_begun = ATOMIC_FLAG_INIT;

static void prepare_names_ok(void) {
  if (atomic_flag_test_and_set(&is_begun))
    return;
  names_ok = calloc(256, 1);
}

/* A flag that is only counted says nothing. */
static char *numbers_bad;
static atomic_int runs;

static void prepare_numbers_bad(void) {
  atomic_fetch_add(&runs, 1);
  numbers_bad = calloc(256, 1); // LEAK D003 // LOST
}

int name_of(int key) {
  int sum = 0;
  for (int i = 0; i < key; i++) {
    prepare_names_ok();
    prepare_numbers_bad();
    sum += names_ok ? names_ok[i & 255] : 0;
    sum += numbers_bad ? numbers_bad[i & 255] : 0;
  }
  return sum;
}

/* A field that is looked at on one way and emptied on another; the destructor frees it. */
struct task {
  int id;
  char *label_bad, *label_ok;
};

struct task *task_new(int id) {
  struct task *t = calloc(1, sizeof *t);
  if (t)
    t->id = id;
  return t;
}

void task_label_bad(struct task *t, FILE *file) {
  char line[80];
  if (!fgets(line, sizeof line, file)) {
    t->label_bad = NULL; // LOST
    return;
  }
  if (t->label_bad && !strcmp(t->label_bad, line))
    return;
  free(t->label_bad);
  t->label_bad = strdup(line); // LEAK D003
}

void task_label_ok(struct task *t, FILE *file) {
  char line[80];
  if (!fgets(line, sizeof line, file)) {
    free(t->label_ok);
    t->label_ok = NULL;
    return;
  }
  if (t->label_ok && !strcmp(t->label_ok, line))
    return;
  free(t->label_ok);
  t->label_ok = strdup(line);
}

void task_free(struct task *t) {
  free(t->label_bad);
  free(t->label_ok);
  free(t);
}

/* A function that does nothing but call the one that fills the variable; whoever calls it empties the variable, too. */
static char *output_ok;
static char *output_bad;

static void open_ok(void) {
  output_ok = malloc(81);
  if (!output_ok)
    exit(1);
  output_ok[0] = '\0';
}

static void open_bad(void) {
  output_bad = malloc(81); // LEAK D003 // LOST
  if (!output_bad)
    exit(1);
  output_bad[0] = '\0';
}

static void open_small_ok(void) { open_ok(); }
static void open_small_bad(void) { open_bad(); }

static void close_ok(void) {
  free(output_ok);
  output_ok = NULL;
}

static void one_output_ok(void) {
  open_small_ok();
  next_word(output_ok, 80);
  puts(output_ok);
  close_ok();
}

static void one_output_bad(void) {
  open_small_bad();
  puts(output_bad);
}

void outputs(int n) {
  for (int i = 0; i < n; i++) {
    one_output_ok();
    one_output_bad();
  }
}

/* Whoever can call it again looks first. */
static char *area_ok;
static char *area_bad;

static void area_init_ok(void) { area_ok = malloc(4096); }
static void area_init_bad(void) { area_bad = malloc(4096); } // LEAK D003 // LOST

static int verify(int n) {
  if (!area_ok)
    area_init_ok();
  if (n > 1)
    area_init_bad();
  return area_ok && area_bad && area_ok[n] == area_bad[n];
}

int verify_all(int n) {
  int sum = 0;
  for (int i = 0; i < n; i++)
    sum += verify(i);
  return sum;
}

/* A part of a structure is read anew; whoever has the whole empties it first, or does not. */
struct sizes {
  int count;
  char *ok, *bad;
};

struct streams {
  int state;
  struct sizes sizes;
};

static void free_sizes_ok(struct sizes *sizes) {
  free(sizes->ok);
  sizes->ok = NULL;
}

static void free_sizes_bad(struct sizes *sizes) {
  free(sizes->bad);
  sizes->bad = NULL;
}

static int read_sizes(struct sizes *sizes, int count) {
  if (count) {
    sizes->ok = calloc(count, 1);
    sizes->bad = calloc(count, 1);
    if (!sizes->ok || !sizes->bad)
      return -1;
  }
  for (int i = 0; i < count; i++)
    sizes->ok[i] = sizes->bad[i] = 1;
  return sizes->ok && sizes->bad;
}

static int read_streams(struct streams *streams, int count) {
  streams->state = count;
  return read_sizes(&streams->sizes, count);
}

int read_all(struct streams *streams, int *counts) {
  for (; *counts; counts++) {
    free_sizes_ok(&streams->sizes);
    if (read_streams(streams, *counts) < 0) // LEAK D003, LOST
      return -1;
  }
  return 0;
}

void close_streams(struct streams *streams) {
  free_sizes_ok(&streams->sizes);
  free_sizes_bad(&streams->sizes);
}

/* A field of a structure that is in use is emptied: what the function has read of it says that it is no new one. */
struct meter {
  int mode;
  char *drawn_bad, *drawn_ok;
};

void meter_draw(struct meter *m) {
  if (!m->drawn_bad)
    m->drawn_bad = calloc(80, 1); // LEAK D003
  if (!m->drawn_ok)
    m->drawn_ok = calloc(80, 1);
}

void meter_set_mode_bad(struct meter *m, int mode) {
  if (m->mode == mode)
    return;
  m->drawn_bad = NULL; // LOST
  m->mode = mode;
}

void meter_set_mode_ok(struct meter *m, int mode) {
  if (m->mode == mode)
    return;
  free(m->drawn_ok);
  m->drawn_ok = NULL;
  m->mode = mode;
}

void meter_init_ok(struct meter *m, int mode) {
  m->mode = mode;
  m->drawn_bad = NULL;
  m->drawn_ok = NULL;
}

static void meter_done(struct meter *m) {
  free(m->drawn_bad);
  free(m->drawn_ok);
}

void meter_free(struct meter *m) {
  meter_done(m);
  free(m);
}

/* The name of a node that was found in a list. */
struct entry {
  struct entry *next;
  char *key_bad, *key_ok;
};

static struct entry *entries;

void entry_add(const char *key) {
  struct entry *e = calloc(1, sizeof *e);
  if (!e)
    return;
  e->key_bad = strdup(key); // LEAK D003
  e->key_ok = strdup(key);
  e->next = entries;
  entries = e;
}

void entry_shorten(const char *key) {
  struct entry *e;
  for (e = entries; e; e = e->next) {
    if (strlen(key) < strlen(e->key_bad))
      e->key_bad = strdup(key); // LOST
    if (strlen(key) < strlen(e->key_ok)) {
      free(e->key_ok);
      e->key_ok = strdup(key);
    }
  }
}

void entry_free(struct entry *e) {
  free(e->key_bad);
  free(e->key_ok);
  free(e);
}

/* Overwritten by a function that gets the field's address. */
struct ticket {
  int state;
  char *note_bad, *note_ok;
};

static void copy_note(char **to, const char *text) {
  *to = strdup(text);
}

void ticket_note(struct ticket *t, const char *text) {
  if (t->note_bad && !strcmp(t->note_bad, text))
    return;
  copy_note(&t->note_bad, text); // LEAK D003 // LOST
  free(t->note_ok);
  copy_note(&t->note_ok, text);
}

void ticket_free(struct ticket *t) {
  free(t->note_bad);
  free(t->note_ok);
  free(t);
}

/* Made where a caller has found nothing. */
struct scan {
  int level;
  char *map_ok;
};

static void scan_alloc_ok(struct scan *s) {
  s->map_ok = calloc((size_t)s->level, 1);
}

void scan_mark_ok(struct scan *s, int at) {
  if (!s->map_ok)
    scan_alloc_ok(s);
  if (s->map_ok)
    s->map_ok[at] = 1;
}

void scan_free(struct scan *s) {
  free(s->map_ok);
  free(s);
}
