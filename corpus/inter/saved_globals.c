/* What a variable holds is put aside by a callee before the variable gets its next value. */
#include <stdlib.h>
#include <string.h>

struct saved {
  struct saved *next;
  char *text;
};

static struct saved *stack;
static char *current;
static char *last;
static int level;

static void push(void) {
  struct saved *saved = malloc(sizeof *saved);
  if (!saved)
    abort();
  saved->next = stack;
  saved->text = current;
  stack = saved;
  level++;
}

static void use(char *text) {
  push();
  current = text;
}

static void note(char *text) {
  level++;
  last = text;
}

void repeated_ok(int count, const char *text) {
  while (count--)
    use(strdup(text));
}

void repeated_bad(int count, const char *text) {
  while (count--)
    note(strdup(text)); // LEAK, LOST
}
