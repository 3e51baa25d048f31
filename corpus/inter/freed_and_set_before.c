/* A field is freed and emptied at one place of a function, and only emptied at another: what the first one frees is an older block. */
#include <stdlib.h>
#include <string.h>

struct job_bad {
  int rounds;
  char *out;
  char *log;
};

void job_load_bad(struct job_bad *j, const char *out) {
  free(j->out);
  j->out = strdup(out); // LEAK
}

void job_run_bad(struct job_bad *j) {
  while (j->rounds-- > 0) {
    if (j->rounds == 3) {
      if (j->out) {
        free(j->out);
        j->out = NULL;
      }
      continue;
    }
    if (j->out && j->out[0] == '\0')
      j->out = NULL; // LOST
  }
}

void job_free_bad(struct job_bad *j) {
  free(j->out);
  free(j->log);
  free(j);
}

struct job_ok {
  int rounds;
  char *out;
  char *log;
};

void job_load_ok(struct job_ok *j, const char *out) {
  free(j->out);
  j->out = strdup(out);
}

void job_run_ok(struct job_ok *j) {
  while (j->rounds-- > 0) {
    if (j->rounds == 3) {
      if (j->out) {
        free(j->out);
        j->out = NULL;
      }
      continue;
    }
    if (j->out && j->out[0] == '\0') {
      free(j->out);
      j->out = NULL;
    }
  }
}

void job_free_ok(struct job_ok *j) {
  free(j->out);
  free(j->log);
  free(j);
}

/* The old pointer is kept in a variable over the turns: it is the block that the store below overwrites. */
void job_swap_ok(struct job_ok *j, int n) {
  char *old = NULL;
  for (int i = 0; i < n; i++) {
    free(old);
    old = j->out;
    if (j->out && j->out[0] == '\0')
      j->out = NULL;
    else
      old = NULL;
  }
  free(old);
}
