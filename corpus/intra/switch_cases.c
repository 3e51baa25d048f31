/* One case of a switch forgets the release. */
#include <stdlib.h>
#include <string.h>

int encode_bad(int kind, const char *s) {
  char *work = strdup(s); // LEAK
  if (!work)
    return -1;
  switch (kind) {
  case 0:
    free(work);
    return 0;
  case 1:
    work[0] = '1';
    free(work);
    return 1;
  case 2:
    return 2;
  default:
    break;
  }
  free(work);
  return 9;
}

int encode_ok(int kind, const char *s) {
  char *work = strdup(s);
  if (!work)
    return -1;
  switch (kind) {
  case 0:
    free(work);
    return 0;
  case 1:
    work[0] = '1';
    free(work);
    return 1;
  case 2:
    free(work);
    return 2;
  default:
    break;
  }
  free(work);
  return 9;
}

int no_default_bad(int kind) {
  int *slot = malloc(sizeof *slot); // LEAK
  switch (kind) {
  case 1:
  case 2:
    free(slot);
    break;
  case 3:
    free(slot);
    return 3;
  }
  return 0;
}

int no_default_ok(int kind) {
  int *slot = malloc(sizeof *slot);
  switch (kind) {
  case 1:
  case 2:
    free(slot);
    break;
  case 3:
    free(slot);
    return 3;
  default:
    free(slot);
  }
  return 0;
}

int fall_through_bad(int stage) {
  char *a = NULL, *b = NULL;
  a = malloc(8);
  b = malloc(8); // LEAK
  switch (stage) {
  case 2:
    free(b);
    /* fall through */
  case 1:
    free(a);
    break;
  default:
    free(a);
    free(b);
  }
  return stage;
}

int fall_through_ok(int stage) {
  char *a = NULL, *b = NULL;
  a = malloc(8);
  if (stage == 2)
    b = malloc(8);
  switch (stage) {
  case 2:
    free(b);
    /* fall through */
  case 1:
    free(a);
    break;
  default:
    free(a);
  }
  return stage;
}
