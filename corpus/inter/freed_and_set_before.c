/* A field is freed and emptied, and further on emptied without that: what was freed is not the block that is lost. */
#include <stdlib.h>
#include <string.h>

struct job_bad {
  int again;
  char *out;
  char *log;
};

void job_load_bad(struct job_bad *j, const char *out) {
  free(j->out);
  j->out = strdup(out); // LEAK
}

void job_run_bad(struct job_bad *j) {
  if (j->again) {
    free(j->out);
    j->out = NULL;
  }
  if (j->out && j->out[0] == '\0')
    j->out = NULL; // LOST
}

void job_log_bad(struct job_bad *j, const char *text) {
  free(j->log);
  j->log = strdup(text); // LEAK
}

/* What is freed behind is the new block. */
void job_open_bad(struct job_bad *j, const char *text) {
  if (j->log)
    j->log = NULL; // LOST
  if (text)
    j->log = strdup(text);
  if (j->log && j->log[0] == '\0') {
    free(j->log);
    j->log = NULL;
  }
}

void job_free_bad(struct job_bad *j) {
  free(j->out);
  free(j->log);
  free(j);
}

struct job_ok {
  int again;
  int size;
  char *out;
  char *log;
  char **tab;
};

void job_load_ok(struct job_ok *j, const char *out) {
  free(j->out);
  j->out = strdup(out);
}

void job_run_ok(struct job_ok *j) {
  if (j->again) {
    free(j->out);
    j->out = NULL;
  }
  if (j->out && j->out[0] == '\0') {
    free(j->out);
    j->out = NULL;
  }
}

void job_log_ok(struct job_ok *j, const char *text) {
  free(j->log);
  j->log = strdup(text);
}

void job_open_ok(struct job_ok *j, const char *text) {
  if (j->log) {
    free(j->log);
    j->log = NULL;
  }
  if (text)
    j->log = strdup(text);
  if (j->log && j->log[0] == '\0') {
    free(j->log);
    j->log = NULL;
  }
}

/* The other way frees the table: the size says that there is none on this one. */
int job_grow_ok(struct job_ok *j, int used, int more) {
  for (int i = 0; i < more; i++) {
    for (int k = 0; k < used; k++)
      if (j->tab[k] == NULL)
        return k;
    if (j->size == 0) {
      j->tab = malloc(8 * sizeof(char *));
      if (!j->tab)
        return -1;
      j->size = 8;
    } else if (j->size < 64) {
      free(j->tab);
      j->tab = malloc(64 * sizeof(char *));
      if (!j->tab)
        return -1;
      j->size = 64;
    }
    j->tab[i & 7] = NULL;
  }
  return 0;
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

void job_free_ok(struct job_ok *j) {
  free(j->out);
  free(j->log);
  free(j->tab);
  free(j);
}
