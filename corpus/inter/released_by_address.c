// Structures and texts that are freed by the address of the variable that points to them.
#include <stdlib.h>
#include <string.h>

struct job {
  char *name;
  char *directory;
  int state;
};

struct task {
  char *title;
  int state;
};

static void drop(void *place) {
  void **p = place;
  free(*p);
  *p = NULL;
}

void job_move(struct job *job, const char *name, const char *directory) {
  drop(&job->name);
  drop(&job->directory);
  job->name = strdup(name);
  job->directory = strdup(directory); // LEAK
}

void job_end(struct job *job) {
  char *name = job->name;
  drop(&name);
  drop(&job);
}

void task_name(struct task *task, const char *title) {
  drop(&task->title);
  task->title = strdup(title);
}

void task_end(struct task *task) {
  char *title = task->title;
  drop(&title);
  drop(&task);
}
