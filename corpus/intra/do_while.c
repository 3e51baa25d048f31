/* do-while as a loop and as a clean-up block. */
#include <stdlib.h>
#include <string.h>

int retry_bad(int tries) {
  char *conn;
  do {
    conn = malloc(64); // LEAK // LOST
    if (!conn)
      return -1;
    conn[0] = 0;
  } while (--tries > 0);
  free(conn);
  return 0;
}

int retry_ok(int tries) {
  char *conn = NULL;
  do {
    free(conn);
    conn = malloc(64);
    if (!conn)
      return -1;
    conn[0] = 0;
  } while (--tries > 0);
  free(conn);
  return 0;
}

int once_block_bad(const char *s, int mode) {
  int ret = -1;
  do {
    char *dup = strdup(s); // LEAK
    if (!dup)
      break;
    if (mode == 3)
      break;
    ret = dup[0];
    free(dup);
  } while (0);
  return ret;
}

int once_block_ok(const char *s, int mode) {
  int ret = -1;
  char *dup = NULL;
  do {
    dup = strdup(s);
    if (!dup)
      break;
    if (mode == 3)
      break;
    ret = dup[0];
  } while (0);
  free(dup);
  return ret;
}
