/* The lines come from the other file and are lost here. */
#include "cmd.h"
#include <stdlib.h>

int command_loop_bad(struct bufio *b) {
  int n = 0;
  for (;;) {
    char *line = bftpd_readline(b); // LEAK
    if (!line)
      return n;
    if (command_is_quit(line))
      return n;
    n++;
    control_write(b, line);
    free(line);
  }
}

int command_loop_ok(struct bufio *b) {
  int n = 0;
  for (;;) {
    char *line = bftpd_readline(b);
    if (!line)
      return n;
    if (command_is_quit(line)) {
      free(line);
      return n;
    }
    n++;
    control_write(b, line);
    free(line);
  }
}

int command_field_bad(struct bufio *b) {
  struct bufio local = *b;
  local.cmd = bftpd_readline(&local); // LEAK
  if (!local.cmd)
    return -1;
  control_write(&local, local.cmd);
  return 0;
}

int command_field_ok(struct bufio *b) {
  b->cmd = bftpd_readline(b);
  if (!b->cmd)
    return -1;
  control_write(b, b->cmd);
  return 0;
}
