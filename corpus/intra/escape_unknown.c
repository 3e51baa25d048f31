/* Functions without a body: a pointer to non-const may be kept, a pointer to const is only read. */
#include <stdlib.h>
#include <string.h>

void queue_put(void *item);
void log_text(const char *text);
int compare_names(const char *a, const char *b);
int publish(const char *label, void *value);
struct job;
void submit(struct job *job);

int hand_over_bad(const char *s) {
  char *msg = strdup(s); // LEAK
  if (!msg)
    return -1;
  log_text(msg);
  return 0;
}

int hand_over_ok(const char *s) {
  char *msg = strdup(s);
  if (!msg)
    return -1;
  queue_put(msg);
  return 0;
}

int key_and_value_bad(const char *k) {
  char *key = strdup(k); // LEAK
  int *val = malloc(sizeof *val);
  if (!key || !val) {
    free(key);
    free(val);
    return -1;
  }
  return publish(key, val);
}

int key_and_value_ok(const char *k) {
  char *key = strdup(k);
  int *val = malloc(sizeof *val);
  if (!key || !val) {
    free(key);
    free(val);
    return -1;
  }
  int r = publish(key, val);
  free(key);
  return r;
}

struct job {
  char *cmd;
  int prio;
};

int inside_struct_bad(const char *s) {
  struct job j = {strdup(s), 1}; // LEAK
  log_text(j.cmd);
  return j.prio;
}

int inside_struct_ok(const char *s) {
  struct job j = {strdup(s), 1};
  submit(&j);
  return j.prio;
}

int compared_bad(const char *a, const char *b) {
  char *t = strdup(a); // LEAK
  if (!t)
    return 0;
  return compare_names(t, b);
}

int compared_ok(const char *a, const char *b) {
  char *t = strdup(a);
  if (!t)
    return 0;
  int r = compare_names(t, b);
  free(t);
  return r;
}
