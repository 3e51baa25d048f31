// What one turn of a loop sets, a later turn finds set.
#include <stdlib.h>
#include <string.h>

int handle(const char *);
int accept_it(int);
int next_token(void);

int error_ends_the_loop_ok(int count, char **words) {
  int failed = 0;
  char *copy = NULL;
  for (int i = 1; i < count && !failed; i++) {
    copy = strdup(words[i]);
    if (!copy)
      return 1;
    failed = handle(copy);
    if (!failed) {
      free(copy);
      copy = NULL;
    }
  }
  free(copy);
  return failed;
}

int error_goes_on_bad(int count, char **words) {
  int failed = 0;
  char *copy = NULL;
  for (int i = 1; i < count; i++) {
    copy = strdup(words[i]); // LEAK // LOST
    if (!copy)
      return 1;
    failed = handle(copy);
    if (!failed) {
      free(copy);
      copy = NULL;
    }
  }
  free(copy);
  return failed;
}

struct node {
  struct node *next;
  int number;
};

struct node *append_ok(int count) {
  struct node *head = NULL, *tail = NULL;
  for (int i = 0; i < count; i++) {
    struct node *node = calloc(1, sizeof *node);
    if (!node)
      break;
    if (!accept_it(i)) {
      free(node);
      continue;
    }
    if (tail) {
      tail->next = node;
      tail = tail->next;
    } else {
      head = tail = node;
    }
  }
  return head;
}

struct node *append_bad(int count) {
  struct node *head = NULL;
  for (int i = 0; i < count; i++) {
    struct node *node = calloc(1, sizeof *node); // LEAK
    if (!node)
      break;
    if (!accept_it(i)) {
      free(node);
      continue;
    }
    head = node; // LOST
  }
  return head;
}

static int is_open;
static char *window;

int opened_once_ok(void) {
  for (;;) {
    switch (next_token()) {
    case 0:
      if (!is_open) {
        window = malloc(100);
        if (!window)
          abort();
        is_open = 1;
      }
      break;
    case 1:
      return 0;
    }
  }
}

int opened_again_bad(void) {
  for (;;) {
    switch (next_token()) {
    case 0:
      if (!is_open) {
        window = malloc(100); // LEAK // LOST
        if (!window)
          abort();
      }
      break;
    case 1:
      return 0;
    }
  }
}
