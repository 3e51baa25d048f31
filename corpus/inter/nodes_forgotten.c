/* Nodes of lists that are freed without what they hold, although everybody else frees it with them. */
#include <stdlib.h>
#include <string.h>

struct note {
  struct note *next;
  char *text;
  char *author;
};

static struct note *notes;

int note_add_bad(const char *text, const char *author) {
  struct note *n = calloc(1, sizeof *n);
  if (!n)
    return -1;
  n->text = strdup(text); // LEAK D004
  n->author = strdup(author);
  n->next = notes;
  notes = n;
  return 0;
}

void notes_drop_first(void) {
  struct note *n = notes;
  if (!n)
    return;
  notes = n->next;
  free(n->text);
  free(n->author);
  free(n);
}

void notes_clear_bad(void) {
  struct note *n, *next;
  for (n = notes; n; n = next) {
    next = n->next;
    free(n->author);
    free(n); // LOST
  }
  notes = NULL;
}

/* Both free all of it. */
struct entry {
  struct entry *next;
  char *key;
};

static struct entry *entries;

int entry_add_ok(const char *key) {
  struct entry *e = calloc(1, sizeof *e);
  if (!e)
    return -1;
  e->key = strdup(key);
  e->next = entries;
  entries = e;
  return 0;
}

void entries_drop_first_ok(void) {
  struct entry *e = entries;
  if (!e)
    return;
  entries = e->next;
  free(e->key);
  free(e);
}

void entries_clear_ok(void) {
  struct entry *e, *next;
  for (e = entries; e; e = next) {
    next = e->next;
    free(e->key);
    free(e);
  }
  entries = NULL;
}

/* One takes the text out before, by another way to the same node. */
struct line {
  struct line *next;
  char *text;
};

static struct line *lines;

int line_add_ok(const char *text) {
  struct line *l = calloc(1, sizeof *l);
  if (!l)
    return -1;
  l->text = strdup(text);
  l->next = lines;
  lines = l;
  return 0;
}

void lines_drop_first_ok(void) {
  struct line *l;
  if (!lines)
    return;
  free(lines->text);
  l = lines;
  lines = l->next;
  free(l);
}

void lines_clear_ok(void) {
  struct line *l, *next;
  for (l = lines; l; l = next) {
    next = l->next;
    free(l->text);
    free(l);
  }
  lines = NULL;
}

/* Emptied by somebody who is called before. */
struct job {
  struct job *next;
  char *name;
};

static struct job *jobs;

int job_add_ok(const char *name) {
  struct job *j = calloc(1, sizeof *j);
  if (!j)
    return -1;
  j->name = strdup(name);
  j->next = jobs;
  jobs = j;
  return 0;
}

static void jobs_forget_names(void) {
  for (struct job *j = jobs; j; j = j->next) {
    free(j->name);
    j->name = NULL;
  }
}

void job_drop_first_ok(void) {
  struct job *j = jobs;
  if (!j)
    return;
  jobs = j->next;
  free(j->name);
  free(j);
}

void jobs_clear_ok(void) {
  struct job *j, *next;
  jobs_forget_names();
  for (j = jobs; j; j = next) {
    next = j->next;
    free(j);
  }
  jobs = NULL;
}

/* Freed with what it holds, or without it, which is returned then. */
struct text {
  char *bytes;
  int is_dynamic;
};

struct page {
  struct text text;
  int number;
};

static struct page *pages[8];

static void text_init(struct text *t) { t->bytes = calloc(1, 100); }

struct text *text_new_ok(void) {
  struct text *t = calloc(1, sizeof *t);
  if (!t)
    abort();
  text_init(t);
  t->is_dynamic = 1;
  return t;
}

void text_free_ok(struct text *t) {
  if (t->bytes) {
    free(t->bytes);
    t->bytes = NULL;
  }
  if (t->is_dynamic)
    free(t);
}

char *text_free_to_string_ok(struct text *t) {
  char *bytes = t->bytes;
  if (t->is_dynamic)
    free(t);
  return bytes;
}

void page_start_ok(int n) { text_init(&pages[n & 7]->text); }

void page_end_ok(int n) { text_free_ok(&pages[n & 7]->text); }

/* Only the setter ever frees what the nodes hold, to put something else there. */
struct columns {
  char *cells[3];
};

struct row {
  struct columns columns;
  struct row *next;
};

static struct row *rows;

static void set_cell(char **cell, const char *text) {
  free(*cell);
  *cell = strdup(text);
}

int row_add_bad(const char *const *texts) {
  struct row *r = calloc(1, sizeof *r);
  if (!r)
    return -1;
  for (int i = 0; i < 3; i++)
    set_cell(&r->columns.cells[i], texts[i]); // LEAK D004
  r->next = rows;
  rows = r;
  return 0;
}

void rows_clear_bad(void) {
  struct row *r, *next;
  for (r = rows; r; r = next) {
    next = r->next;
    free(r); // LOST
  }
  rows = NULL;
}

struct cells {
  char *texts[3];
};

struct line_of_cells {
  struct cells cells;
  struct line_of_cells *next;
};

static struct line_of_cells *table;

static void cells_clear(struct cells *c) {
  for (int i = 0; i < 3; i++)
    free(c->texts[i]);
}

int table_add_ok(const char *const *texts) {
  struct line_of_cells *l = calloc(1, sizeof *l);
  if (!l)
    return -1;
  for (int i = 0; i < 3; i++)
    set_cell(&l->cells.texts[i], texts[i]);
  l->next = table;
  table = l;
  return 0;
}

void table_clear_ok(void) {
  struct line_of_cells *l, *next;
  for (l = table; l; l = next) {
    next = l->next;
    cells_clear(&l->cells);
    free(l);
  }
  table = NULL;
}
