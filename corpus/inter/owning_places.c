/* Fields and variables that hold blocks of their own, and are overwritten although they hold one: the whole program tells whose they are. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A variable: tested, then emptied without a free. */
static char *title;

void title_set_bad(const char *s) {
  if (!title)
    title = strdup(s); // LEAK D003
}

void title_clear_bad(void) {
  if (title) {
    puts(title);
    title = NULL; // LOST
  }
}

static char *legend;

void legend_set_ok(const char *s) {
  if (!legend)
    legend = strdup(s);
}

void legend_clear_ok(void) {
  if (legend) {
    puts(legend);
    free(legend);
    legend = NULL;
  }
}

/* A field that is compared with its new value and replaced; the destructor frees it. */
struct process {
  char *name_bad, *name_ok;
};

struct process *process_new(void) {
  return calloc(1, sizeof(struct process));
}

void process_rename_bad(struct process *p, const char *name) {
  if (p->name_bad && !strcmp(p->name_bad, name))
    return;
  p->name_bad = strdup(name); // LEAK D003 // LOST
}

void process_rename_ok(struct process *p, const char *name) {
  if (p->name_ok && !strcmp(p->name_ok, name))
    return;
  free(p->name_ok);
  p->name_ok = strdup(name);
}

void process_free(struct process *p) {
  free(p->name_bad);
  free(p->name_ok);
  free(p);
}

/* Emptied by somebody who is called before. */
static void process_forget(struct process *p) {
  free(p->name_ok);
  p->name_ok = NULL;
}

void process_reset_ok(struct process *p, const char *name) {
  if (p->name_ok)
    puts(p->name_ok);
  process_forget(p);
  p->name_ok = strdup(name);
}

/* The variable also holds what is not its own. */
static char *borrowed;

void borrowed_set_ok(char *s, int copy) {
  if (!borrowed)
    borrowed = copy ? strdup(s) : s;
}

void borrowed_clear_ok(void) {
  if (borrowed)
    borrowed = NULL;
}

/* The old block is taken after it was overwritten. */
static char *current;

void current_set_ok(const char *s) {
  char *old = current;
  if (old)
    puts(old);
  current = strdup(s);
  free(old);
}

/* A list that grows at its end: the next turn fills the next node. */
struct node {
  struct node *next;
  int key;
};

struct node *list_read_ok(void) {
  struct node *head = calloc(1, sizeof *head), *p = head;
  if (!head)
    exit(1);
  while (scanf("%d", &p->key) == 1) {
    p->next = calloc(1, sizeof *p);
    if (!p->next)
      exit(1);
    p = p->next;
    p->next = NULL;
  }
  return head;
}

void list_free(struct node *p) {
  while (p) {
    struct node *next = p->next;
    free(p);
    p = next;
  }
}

/* A second one ends the program. */
static char *mode;

void mode_set_ok(const char *s) {
  if (mode)
    exit(2);
  mode = strdup(s);
}
