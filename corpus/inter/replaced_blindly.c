/* Owners that are overwritten by somebody who does not look: the rest of the program tells that there is something. */
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
