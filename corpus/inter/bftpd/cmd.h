#ifndef CMD_H
#define CMD_H
struct bufio {
  char *cmd;
  int fd;
};
char *bftpd_readline(struct bufio *b);
int command_is_quit(const char *line);
void control_write(struct bufio *b, const char *text);
#endif
