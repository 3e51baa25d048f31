/* Two switches, or a switch and an if, over the same value. */
#include <stdlib.h>

enum kind { K_NONE, K_NUM, K_STR, K_LIST };

int two_switches_bad(enum kind k) {
  char *tmp = NULL;
  switch (k) {
  case K_STR:
  case K_LIST:
    tmp = malloc(32); // LEAK
    break;
  default:
    break;
  }
  switch (k) {
  case K_STR:
    free(tmp);
    break;
  default:
    break;
  }
  return k;
}

int two_switches_ok(enum kind k) {
  char *tmp = NULL;
  switch (k) {
  case K_STR:
  case K_LIST:
    tmp = malloc(32);
    break;
  default:
    break;
  }
  switch (k) {
  case K_NONE:
  case K_NUM:
    break;
  default:
    free(tmp);
    break;
  }
  return k;
}

int switch_then_if_bad(int op) {
  int *acc = NULL;
  switch (op) {
  case 1:
  case 2:
  case 3:
    acc = calloc(1, sizeof *acc); // LEAK
  }
  if (op > 1 && op < 4)
    free(acc);
  return op;
}

int switch_then_if_ok(int op) {
  int *acc = NULL;
  switch (op) {
  case 1:
  case 2:
  case 3:
    acc = calloc(1, sizeof *acc);
  }
  if (op >= 1 && op <= 3)
    free(acc);
  return op;
}

int derived_bad(int op) {
  int width;
  char *p = NULL;
  switch (op) {
  case 'b':
    width = 1;
    break;
  case 'w':
    width = 4;
    break;
  default:
    width = 0;
  }
  if (width)
    p = malloc(width); // LEAK
  if (op == 'b')
    free(p);
  return width;
}

int derived_ok(int op) {
  int width;
  char *p = NULL;
  switch (op) {
  case 'b':
    width = 1;
    break;
  case 'w':
    width = 4;
    break;
  default:
    width = 0;
  }
  if (width)
    p = malloc(width);
  if (op == 'b' || op == 'w')
    free(p);
  return width;
}

int masked_switch_bad(unsigned f) {
  char *p = NULL;
  switch (f & 0x30) {
  case 0x10:
  case 0x30:
    p = malloc(4); // LEAK
    break;
  }
  if (!(f & 0x20))
    free(p);
  return 0;
}

int masked_switch_ok(unsigned f) {
  char *p = NULL;
  switch (f & 0x30) {
  case 0x10:
  case 0x30:
    p = malloc(4);
    break;
  }
  if (f & 0x10)
    free(p);
  return 0;
}
