/* A variable that nobody has written, or only unknown code, is one value for both tests. */
#include <stdlib.h>

void query_mode(int *mode);

int never_written_bad(int n) {
  int mode;
  char *p = NULL;
  if (n > 3)
    mode = n;
  if (mode > 6)
    p = malloc(4); // LEAK
  if (mode > 7)
    free(p);
  return n;
}

int never_written_ok(int n) {
  int mode;
  char *p = NULL;
  if (n > 3)
    mode = n;
  if (mode > 6)
    p = malloc(4);
  if (mode > 6)
    free(p);
  return n;
}

int unknown_writer_bad(void) {
  int mode;
  char *p = NULL;
  query_mode(&mode);
  if (mode)
    p = malloc(4); // LEAK
  if (mode > 0)
    free(p);
  return 0;
}

int unknown_writer_ok(void) {
  int mode;
  char *p = NULL;
  query_mode(&mode);
  if (mode)
    p = malloc(4);
  if (mode != 0)
    free(p);
  return 0;
}

int pointer_set_on_one_path_bad(int n) {
  char *p;
  if (n & 2)
    p = malloc(n); // LEAK
  if (n & 4)
    return 1;
  if (n & 2)
    free(p);
  return 0;
}

int pointer_set_on_one_path_ok(int n) {
  char *p;
  if (n & 4)
    return 1;
  if (n & 2)
    p = malloc(n);
  if (n & 2)
    free(p);
  return 0;
}
