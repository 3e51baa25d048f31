/* A destructor forgets the structure itself. One of its callers hands on what it got, and is called with null as well: that says nothing of who
   frees the structure. Where a caller further up frees it, nothing is lost. */
#include <stdlib.h>
#include <string.h>

struct entry_bad {
  struct entry_bad *next;
  char *name, *text;
};
static struct entry_bad *entries_bad;

int make_bad(const char *name, const char *text) {
  struct entry_bad *e = calloc(1, sizeof *e); // LEAK D001
  if (!e)
    return -1;
  e->name = strdup(name);
  e->text = strdup(text);
  e->next = entries_bad;
  entries_bad = e;
  return 0;
}

void drop_bad(struct entry_bad *e) {
  entries_bad = e->next;
  free(e->name);
  free(e->text);
}

int edit_bad(struct entry_bad *e, int n) {
  if (!e)
    return 0;
  if (n < 0)
    drop_bad(e);
  return 1;
}

int leave_bad(void) { return edit_bad(NULL, 0); }

int next_bad(int n) { return edit_bad(entries_bad, n); }

struct entry_ok {
  struct entry_ok *next;
  char *name, *text;
};
static struct entry_ok *entries_ok;

int make_ok(const char *name, const char *text) {
  struct entry_ok *e = calloc(1, sizeof *e);
  if (!e)
    return -1;
  e->name = strdup(name);
  e->text = strdup(text);
  e->next = entries_ok;
  entries_ok = e;
  return 0;
}

void drop_ok(struct entry_ok *e) {
  entries_ok = e->next;
  free(e->name);
  free(e->text);
}

int edit_ok(struct entry_ok *e) {
  if (!e)
    return 0;
  drop_ok(e);
  return 1;
}

int leave_ok(void) { return edit_ok(NULL); }

int next_ok(void) {
  struct entry_ok *e = entries_ok;
  int done = edit_ok(e);
  free(e);
  return done;
}
