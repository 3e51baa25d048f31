/* Reads command lines for the other file. */
#include "cmd.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *bftpd_readline(struct bufio *b) {
  char tmp[256];
  if (!fgets(tmp, sizeof tmp, stdin))
    return NULL;
  b->fd++;
  return strdup(tmp);
}

int command_is_quit(const char *line) {
  return strncmp(line, "QUIT", 4) == 0;
}

void control_write(struct bufio *b, const char *text) {
  printf("%d %s\n", b->fd, text);
}
