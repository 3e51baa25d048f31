/* Structures that begin with another one, and functions that know them by several names: classes in C. */
#include <stdlib.h>
#include <string.h>

int flush_screen(void);

struct object {
  void (*destroy)(struct object *);
};

struct panel {
  struct object object;
  char *title;
};

static void panel_done(struct panel *p) { free(p->title); }

/* The destructor takes the panel apart and forgets the structure around it. */
struct options {
  struct panel panel;
  int column;
};

static void options_delete_bad(struct object *object) {
  struct panel *panel = (struct panel *)object;
  struct options *this = (struct options *)object;
  this->column ? (void)flush_screen() : (void)0;
  panel_done(panel); // LOST
}

struct object *options_new_bad(const char *title) {
  struct options *this = malloc(sizeof *this); // LEAK D001
  struct panel *panel = (struct panel *)this;
  if (!this)
    abort();
  panel->title = strdup(title);
  panel->object.destroy = options_delete_bad;
  this->column = 0;
  return &panel->object;
}

struct colours {
  struct panel panel;
  int column;
};

static void colours_delete_ok(struct object *object) {
  struct panel *panel = (struct panel *)object;
  struct colours *this = (struct colours *)object;
  this->column ? (void)flush_screen() : (void)0;
  panel_done(panel);
  free(this);
}

struct object *colours_new_ok(const char *title) {
  struct colours *this = malloc(sizeof *this);
  struct panel *panel = (struct panel *)this;
  if (!this)
    abort();
  panel->title = strdup(title);
  panel->object.destroy = colours_delete_ok;
  this->column = 0;
  return &panel->object;
}

static struct object *shown[8];

void show(int n, const char *title) {
  shown[n & 7] = n & 8 ? options_new_bad(title) : colours_new_ok(title);
}

void hide(int n) {
  struct object *object = shown[n & 7];
  shown[n & 7] = NULL;
  if (object)
    object->destroy(object);
}

/* Nothing is freed yet when the library fails, which knows nothing of the structure. */
struct timer {
  struct timer *next;
  char *name;
};

static struct timer *timers;

int timer_add_bad(const char *name) {
  struct timer *t = malloc(sizeof *t); // LEAK D002
  if (!t)
    return -1;
  t->name = strdup(name);
  t->next = timers;
  timers = t;
  return 0;
}

static void timer_free_bad(struct timer *t) {
  if (!t)
    return;
  if (flush_screen() < 0)
    return;
  free(t->name);
  free(t);
}

void timer_drop_bad(void) {
  struct timer *t = timers;
  if (t)
    timers = t->next;
  timer_free_bad(t);
}

/* Counted references decide, not the failure alone. */
struct image {
  struct image *next;
  char *name;
  int users;
};

static struct image *images;

int image_add_ok(const char *name) {
  struct image *i = malloc(sizeof *i);
  if (!i)
    return -1;
  i->name = strdup(name);
  i->users = 1;
  i->next = images;
  images = i;
  return 0;
}

static void image_free_ok(struct image *i) {
  if (!i || --i->users > 0)
    return;
  if (flush_screen() < 0)
    return;
  free(i->name);
  free(i);
}

void image_drop_ok(void) {
  struct image *i = images;
  if (i)
    images = i->next;
  image_free_ok(i);
}

/* A destructor that frees the other fields leaves none of them to the one who sets it. */
struct process {
  struct process *next;
  char *name;
  char *directory;
  char *command;
};

static struct process *processes;

void process_set_command(struct process *p, const char *command) {
  free(p->command);
  p->command = command ? strdup(command) : NULL; // LEAK D004
}

static void process_free_bad(struct process *p) {
  free(p->name);
  free(p->directory);
  free(p); // LOST
}

int process_add(const char *name) {
  struct process *p = calloc(1, sizeof *p);
  if (!p)
    return -1;
  p->name = strdup(name);
  p->directory = strdup("/");
  p->next = processes;
  processes = p;
  return 0;
}

void process_refresh(const char *command) {
  struct process *p = processes;
  if (!p)
    return;
  process_set_command(p, command);
  if (flush_screen() < 0) {
    processes = p->next;
    process_free_bad(p);
  }
}

void process_drop(void) {
  struct process *p = processes;
  if (!p)
    return;
  processes = p->next;
  process_free_bad(p);
}

/* This one calls the setter itself. */
struct thread {
  struct thread *next;
  char *name;
  char *directory;
  char *command;
};

static struct thread *threads;

void thread_set_command(struct thread *t, const char *command) {
  free(t->command);
  t->command = command ? strdup(command) : NULL;
}

static void thread_free_ok(struct thread *t) {
  thread_set_command(t, NULL);
  free(t->name);
  free(t->directory);
  free(t);
}

int thread_add_ok(const char *name, const char *command) {
  struct thread *t = calloc(1, sizeof *t);
  if (!t)
    return -1;
  t->name = strdup(name);
  t->directory = strdup("/");
  thread_set_command(t, command);
  t->next = threads;
  threads = t;
  return 0;
}

void thread_drop_ok(void) {
  struct thread *t = threads;
  if (!t)
    return;
  threads = t->next;
  thread_free_ok(t);
}
