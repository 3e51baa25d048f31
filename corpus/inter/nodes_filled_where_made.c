// A list that a function makes, fills and takes apart again itself: what it forgets there it has put there.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct note {
  char *file, *text;
  struct note *next, *prev;
};

int show_notes_bad(FILE *from, const char *unwanted) {
  struct note *all = NULL, *current = NULL;
  char line[80];
  while (fgets(line, sizeof line, from)) {
    struct note *last = current;
    current = malloc(sizeof *current);
    if (!current)
      abort();
    current->next = NULL;
    current->prev = last;
    if (current->prev)
      current->prev->next = current;
    if (!all)
      all = current;
    current->file = strdup(line);
    current->text = strdup(line + 1); // LEAK
  }
  current = all;
  while (current) {
    struct note *old = current;
    if (!strcmp(current->file, unwanted)) {
      if (current == all)
        all = current->next;
      else
        current->prev->next = current->next;
      if (current->next)
        current->next->prev = current->prev;
      current = current->next;
      free(old->file);
      free(old);
    } else {
      current = current->next;
    }
  }
  for (current = all; current;) {
    struct note *old = current;
    puts(current->text);
    current = current->next;
    free(old->file);
    free(old->text);
    free(old);
  }
  return 0;
}
