// After fig. 2 of the SABER paper: two blocks of one buffer, both lost when the test fails.
#include <stdio.h>
#include <stdlib.h>

static char **read_buffer(void) {
  char **outer = malloc(sizeof *outer);
  *outer = malloc(2);
  (*outer)[0] = (char)getchar();
  return outer;
}

static void free_buffer(char **outer) {
  char *inner = *outer;
  free(inner);
  free(outer);
}

void serial_bad(void) {
  for (int n = 0; n < 100; n++) {
    char **buffer = read_buffer(); // LEAK x2 D002
    char *text = *buffer;
    if (*text != '\n')
      printf("%c", *text);
    else
      continue;
    free_buffer(buffer);
  }
}

void serial_ok(void) {
  for (int n = 0; n < 100; n++) {
    char **buffer = read_buffer();
    char *text = *buffer;
    if (*text != '\n')
      printf("%c", *text);
    free_buffer(buffer);
  }
}
