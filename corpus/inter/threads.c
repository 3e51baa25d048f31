// Threads: what their function does to its argument happens, whenever that is.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct job {
  int id;
  char *name;
};

static void *show_job(void *data) {
  struct job *job = data;
  printf("%d\n", job->id);
  return NULL;
}

static void *finish_job(void *data) {
  struct job *job = data;
  printf("%d\n", job->id);
  free(job->name);
  free(job);
  return NULL;
}

static struct job *job_new(int id) {
  struct job *job = malloc(sizeof *job);
  if (!job)
    exit(1);
  job->id = id;
  job->name = NULL;
  return job;
}

void nobody_frees_bad(void) {
  pthread_t thread;
  struct job *job = job_new(1); // LEAK
  if (pthread_create(&thread, NULL, show_job, job) == 0)
    pthread_join(thread, NULL);
}

void thread_frees_ok(void) {
  pthread_t thread;
  struct job *job = job_new(1);
  if (pthread_create(&thread, NULL, finish_job, job) == 0) {
    pthread_join(thread, NULL);
  } else {
    free(job->name);
    free(job);
  }
}

void not_started_bad(void) {
  pthread_t thread;
  struct job *job = job_new(1); // LEAK
  if (pthread_create(&thread, NULL, finish_job, job) != 0)
    return;
  pthread_join(thread, NULL);
}

void starter_frees_ok(void) {
  pthread_t thread;
  struct job *job = job_new(1);
  if (pthread_create(&thread, NULL, show_job, job) == 0)
    pthread_join(thread, NULL);
  free(job);
}

static void *free_name(void *data) {
  struct job *job = data;
  free(job->name);
  return NULL;
}

void field_bad(void) {
  pthread_t thread;
  struct job job = {1, strdup("a")}; // LEAK
  if (pthread_create(&thread, NULL, show_job, &job) != 0)
    exit(1);
  pthread_join(thread, NULL);
}

void field_ok(void) {
  pthread_t thread;
  struct job job = {1, strdup("a")};
  if (pthread_create(&thread, NULL, free_name, &job) != 0)
    exit(1);
  pthread_join(thread, NULL);
}

static struct job *jobs[4];

static void *keep_job(void *data) {
  struct job *job = data;
  jobs[job->id & 3] = job;
  return NULL;
}

void kept_ok(void) {
  pthread_t thread;
  struct job *job = job_new(2);
  if (pthread_create(&thread, NULL, keep_job, job) != 0)
    exit(1);
  pthread_join(thread, NULL);
}

static void *own_block_bad(void *data) {
  char *p = strdup(data); // LEAK
  if (p)
    puts(p);
  return NULL;
}

static void *own_block_ok(void *data) {
  char *p = strdup(data);
  if (p)
    puts(p);
  free(p);
  return NULL;
}

void own_blocks(void) {
  pthread_t thread;
  static char text[] = "a";
  if (pthread_create(&thread, NULL, own_block_bad, text) == 0)
    pthread_join(thread, NULL);
  if (pthread_create(&thread, NULL, own_block_ok, text) == 0)
    pthread_join(thread, NULL);
}

static void *result(void *data) {
  struct job *made = job_new(*(int *)data); // LEAK[missed]: lost by whoever waits for the thread; what threads return is not followed
  return made;
}

void result_bad(int n) {
  pthread_t thread;
  void *made = NULL;
  if (pthread_create(&thread, NULL, result, &n) == 0)
    pthread_join(thread, &made);
}
