/* A field is filled behind a check that only complains: whoever wrote it takes the field to be empty. */
#include <stdio.h>
#include <stdlib.h>

struct run {
  int *data, *more;
  int count, turns;
};

extern void log_bug(const char *text, ...);

#define ASSERT(x)                                                                                                      \
  do {                                                                                                                 \
    if (!(x))                                                                                                          \
      log_bug("%s:%d: %s", __FILE__, __LINE__, #x);                                                                    \
  } while (0)

struct run *new_run(void) {
  return calloc(1, sizeof(struct run));
}

void turn_ok(struct run *run) {
  if (!run->turns) {
    ASSERT(run->data == NULL);
    run->data = malloc(run->count * sizeof *run->data);
    if (!run->data)
      exit(1);
  }
  for (int i = 0; i < run->count; i++)
    run->data[i] = rand();
  if (++run->turns == 10) {
    free(run->data);
    run->data = NULL;
    run->turns = 0;
  }
}

/* Here it looks at what is there. */
void turn_bad(struct run *run) {
  if (run->more != NULL)
    printf("again after %d\n", run->more[0]);
  run->more = malloc(run->count * sizeof *run->more); // LEAK
  if (!run->more)
    exit(1);
  for (int i = 0; i < run->count; i++)
    run->more[i] = rand();
}

void end_run(struct run *run) {
  free(run->data);
  free(run->more);
  free(run);
}
