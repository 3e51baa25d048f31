/* A reporter that exits if a certain directive is in its format. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

const char *program_name;

static void vsay(FILE *to, const char *fmt, va_list ap) {
  int fatal = 0;
  while (*fmt != '\0') {
    while (*fmt != '%' && *fmt != '\0')
      putc(*fmt++, to);
    if (*fmt == '%') {
      fmt++;
      switch (*fmt++) {
      case '\0':
        --fmt;
        break;
      case 'F':
        fatal = 1;
        break;
      case 'P':
        if (program_name)
          fputs(program_name, to);
        break;
      case 's':
        fputs(va_arg(ap, const char *), to);
        break;
      case 'd':
        fprintf(to, "%d", va_arg(ap, int));
        break;
      }
    }
  }
  if (fatal)
    exit(1);
}

void say(const char *fmt, ...) {
  va_list ap;
  fflush(stdout);
  va_start(ap, fmt);
  vsay(stderr, fmt, ap);
  va_end(ap);
}

int warned_bad(int n) {
  char *p = malloc(10); // LEAK
  if (n < 0) {
    say("%P: negative: %d\n", n);
    return -1;
  }
  free(p);
  return 0;
}

int given_up_ok(int n) {
  char *p = malloc(10);
  if (n < 0) {
    say("%F%P: negative: %d\n", n);
    return -1;
  }
  free(p);
  return 0;
}

int chosen_bad(int n, const char *how) {
  char *p = malloc(10); // LEAK
  if (n < 0) {
    say(how, n);
    return -1;
  }
  free(p);
  return 0;
}
