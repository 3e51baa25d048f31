/* A library and a tool that uses some of it: setter and destructor meet in programs that others write. */
#include <stdlib.h>
#include <string.h>

struct job {
  char *name;
  char *note;
};

int job_set_name(struct job *job, const char *name) {
  free(job->name);
  job->name = strdup(name);
  return job->name ? 0 : -1;
}

int job_set_note(struct job *job, const char *note) {
  free(job->note);
  job->note = strdup(note); // LEAK
  return job->note ? 0 : -1;
}

struct job *job_new(void) { return calloc(1, sizeof(struct job)); }

void job_free(struct job *job) {
  if (!job)
    return;
  free(job->name);
  free(job);
}

int main(void) {
  struct job *job = job_new();
  job_free(job);
  return 0;
}
