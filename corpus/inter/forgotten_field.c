/* A destructor that forgets a field: no path of any single function shows it, the whole program does. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct job {
  char *name;
  char *note; // nobody frees it
  struct job *next;
};

struct job *job_new(const char *name, const char *note) {
  struct job *j = calloc(1, sizeof *j);
  if (!j)
    return NULL;
  j->name = strdup(name);
  j->note = strdup(note); // LEAK D004
  return j;
}

void job_free(struct job *j) {
  free(j->name);
  free(j); // LOST
}

void job_free_all(struct job *head) {
  while (head) {
    struct job *next = head->next;
    job_free(head);
    head = next;
  }
}

/* The same with nothing forgotten; another function frees one of the fields. */
struct task {
  char *name, *note;
};

struct task *task_new_ok(const char *name) {
  struct task *t = calloc(1, sizeof *t);
  if (!t)
    return NULL;
  t->name = strdup(name);
  t->note = strdup("none");
  return t;
}

void task_forget(struct task *t) {
  free(t->note);
  t->note = NULL;
}

void task_free(struct task *t) {
  task_forget(t);
  free(t->name);
  free(t);
}

/* Handed on: whoever asks for the label frees it. */
struct box {
  char *label;
};

struct box *box_new_ok(const char *s) {
  struct box *b = malloc(sizeof *b);
  if (b)
    b->label = strdup(s);
  return b;
}

char *box_label(struct box *b) {
  return b->label;
}

void box_free(struct box *b) {
  free(b);
}

/* Freed by a function that gets the field's address. */
struct item {
  char *text;
};

static void clear(char **p) {
  free(*p);
  *p = NULL;
}

struct item *item_new_ok(const char *s) {
  struct item *i = malloc(sizeof *i);
  if (i)
    i->text = strdup(s);
  return i;
}

void item_free(struct item *i) {
  clear(&i->text);
  free(i);
}

/* The block is in a list as well, which frees it: the field only points to it. */
struct node {
  struct node *next;
};

struct queue {
  struct node *first;
  struct node *last;
};

int queue_push_ok(struct queue *q) {
  struct node *n = calloc(1, sizeof *n);
  if (!n)
    return -1;
  if (q->last)
    q->last->next = n;
  else
    q->first = n;
  q->last = n;
  return 0;
}

void queue_free(struct queue *q) {
  struct node *n = q->first;
  while (n) {
    struct node *next = n->next;
    free(n);
    n = next;
  }
  free(q);
}

/* Moved by realloc, never freed: nothing is lost. */
struct entry {
  char *key;
};

static struct entry *entries;
static int used;

int entry_add_ok(const char *key) {
  struct entry *more = realloc(entries, (used + 1) * sizeof *more);
  if (!more)
    return -1;
  entries = more;
  entries[used].key = strdup(key);
  used++;
  return used;
}

/* Inside of another structure that is freed. */
struct base {
  char *title; // nobody frees it
};

struct derived {
  int kind;
  struct base base;
};

struct derived *derived_new(const char *s) {
  struct derived *d = malloc(sizeof *d);
  if (!d)
    return NULL;
  d->base.title = strdup(s); // LEAK D004
  return d;
}

void derived_free(struct derived *d) {
  free(d); // LOST
}

/* Copied as a whole: the copy may free it. */
struct pair {
  char *left, *right;
};

struct pair *pair_new_ok(const char *s) {
  struct pair *p = malloc(sizeof *p);
  if (p)
    p->left = strdup(s);
  return p;
}

struct pair pair_take(struct pair *p) {
  struct pair copy = *p;
  free(p);
  return copy;
}

/* An array of structures that is walked. */
struct rule {
  char *text;
  int weight;
};

struct rules {
  struct rule *all;
  int count;
};

int rules_add_ok(struct rules *r, const char *s) {
  struct rule *rule = &r->all[r->count++];
  rule->text = strdup(s);
  rule->weight = 1;
  return 0;
}

void rules_free(struct rules *r) {
  for (struct rule *p = r->all; p < r->all + r->count; p++)
    free(p->text);
  free(r->all);
  free(r);
}

/* A getter moves nothing: who asks for the title in sight only reads it. */
struct page {
  char *title;
  char *text;
};

struct page *page_new(void) {
  return calloc(1, sizeof(struct page));
}

int page_set_title(struct page *p, const char *title) {
  free(p->title);
  p->title = strdup(title); // LEAK: page_free forgets it
  return p->title != NULL;
}

int page_set_text_ok(struct page *p, const char *text) {
  free(p->text);
  p->text = strdup(text);
  return p->text != NULL;
}

const char *page_title(const struct page *p) {
  return p->title;
}

/* This one gives it away. */
char *page_take_text(struct page *p) {
  char *text = p->text;
  p->text = NULL;
  return text;
}

size_t page_width(const struct page *p) {
  return strlen(page_title(p));
}

void page_print(struct page *p) {
  char *text = page_take_text(p);
  if (text)
    puts(text);
  free(text);
}

void page_free(struct page *p) {
  if (!p)
    return;
  free(p); // LOST
}

/* Two destructors, one for each kind: what the other one frees is no help. */
struct stream {
  int writes;
  char *path;
};

struct stream *stream_open(const char *path, int writes) {
  struct stream *s = malloc(sizeof *s);
  if (!s)
    return NULL;
  s->path = strdup(path); // LEAK D004
  s->writes = writes;
  return s;
}

static void stream_close_reading(struct stream *s) {
  free(s); // LOST
}

static void stream_close_writing(struct stream *s) {
  free(s->path);
  free(s);
}

void stream_close(struct stream *s) {
  if (s->writes)
    stream_close_writing(s);
  else
    stream_close_reading(s);
}

/* The same, with the part that is common to both in the caller. */
struct channel {
  int writes;
  char *path;
};

struct channel *channel_open_ok(const char *path, int writes) {
  struct channel *c = malloc(sizeof *c);
  if (!c)
    return NULL;
  c->path = strdup(path);
  c->writes = writes;
  return c;
}

static void channel_drop_path(struct channel *c) {
  free(c->path);
}

static void channel_free(struct channel *c) {
  free(c);
}

void channel_close(struct channel *c) {
  channel_drop_path(c);
  if (c->writes)
    puts("flushed");
  channel_free(c);
}

/* Another field points to the same block for a while; nobody frees it by that. */
struct reader {
  char *buffer; // nobody frees it
  const char *next;
};

struct reader *reader_new(void) {
  struct reader *r = malloc(sizeof *r);
  if (!r)
    return NULL;
  r->buffer = malloc(100); // LEAK D004
  r->next = NULL;
  return r;
}

int reader_start(struct reader *r) {
  r->next = r->buffer;
  return r->next ? *r->next : 0;
}

void reader_free(struct reader *r) {
  free(r); // LOST
}

/* The other field is the one that frees. */
struct writer {
  char *buffer, *owned;
};

struct writer *writer_new_ok(void) {
  struct writer *w = malloc(sizeof *w);
  if (!w)
    return NULL;
  w->buffer = malloc(100);
  w->owned = NULL;
  return w;
}

void writer_take(struct writer *w) {
  w->owned = w->buffer;
}

void writer_free(struct writer *w) {
  free(w->owned);
  free(w);
}

/* Somebody who replaces the block is called by those who call the destructor: that is no care. */
struct process {
  char *name;
};

void process_rename(struct process *p, const char *name) {
  free(p->name);
  p->name = strdup(name); // LEAK D004
}

static void process_read(struct process *p, const char *line) {
  process_rename(p, line);
}

void process_delete(struct process *p) {
  free(p); // LOST
}

void process_scan(struct process *p, const char *line) {
  process_read(p, line);
  if (!*line)
    process_delete(p);
}

/* A copy by a helper: whoever frees the copy leaves what it shares with the original. */
struct shared {
  char *name;
  char *items;
};

static void *copy_of(const void *from, size_t n) {
  void *to = malloc(n);
  if (to)
    memcpy(to, from, n);
  return to;
}

struct shared *new_shared_ok(const char *name) {
  struct shared *made = calloc(1, sizeof *made);
  if (!made)
    return NULL;
  made->name = strdup(name);
  return made;
}

void free_shared_ok(struct shared *made) {
  free(made->name);
  free(made->items);
  free(made);
}

struct shared *temporary_ok(const struct shared *made) {
  struct shared *copy = copy_of(made, sizeof(*made));
  if (copy)
    copy->items = malloc(8);
  return copy;
}

void free_temporary_ok(struct shared *copy) {
  free(copy->items);
  free(copy);
}

/* A queue: who takes the first link out of it gets what the link held. */
struct place {
  struct place *next;
  void *item;
};

struct line {
  struct place *head, *tail;
};

static void enqueue(struct line *q, void *item) {
  struct place *l = malloc(sizeof *l);
  if (!l)
    abort();
  l->next = NULL;
  l->item = item;
  if (q->tail)
    q->tail->next = l;
  else
    q->head = l;
  q->tail = l;
}

static void *dequeue(struct line *q) {
  struct place *old;
  void *item = q->head->item;
  old = q->head;
  if (old->next) {
    q->head = old->next;
  } else {
    q->head = NULL;
    q->tail = NULL;
  }
  free(old);
  return item;
}

void send_ok(struct line *q, const char *text) {
  char *copy = strdup(text);
  if (!copy)
    abort();
  enqueue(q, copy);
}

void receive_ok(struct line *q) {
  char *text = dequeue(q);
  puts(text);
  free(text);
}

/* The same, but whoever takes the link out leaves what it held. */
struct ticket {
  struct ticket *next;
  char *text;
};

struct tickets {
  struct ticket *head;
};

void add_ticket(struct tickets *t, const char *text) {
  struct ticket *new = malloc(sizeof *new);
  if (!new)
    abort();
  new->next = t->head;
  new->text = strdup(text); // LEAK D004
  t->head = new;
}

size_t drop_ticket(struct tickets *t) {
  struct ticket *old;
  size_t length = strlen(t->head->text);
  old = t->head;
  t->head = old->next;
  free(old); // LOST
  return length;
}

// What another function loses is no loss of a block that its own function frees.
struct leaf {
  char *text;
};
struct branch {
  struct leaf *leaf;
};

void leaf_forgotten_bad(void) {
  struct branch *branch = malloc(sizeof *branch);
  branch->leaf = malloc(sizeof *branch->leaf); // LEAK
  branch->leaf->text = strdup("text");
  free(branch->leaf->text);
  free(branch);
}

void text_forgotten_bad(void) {
  struct branch *branch = malloc(sizeof *branch);
  branch->leaf = malloc(sizeof *branch->leaf);
  branch->leaf->text = strdup("text"); // LEAK
  free(branch->leaf);
  free(branch);
}
