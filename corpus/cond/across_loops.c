/* The condition stands before a loop and again after it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int unchanged_bad(int mode, int n) {
  char *buf = NULL;
  if (mode == 2)
    buf = malloc(80); // LEAK
  for (int i = 0; i < n && i < 20; i++)
    mode += i & 1;
  if (mode == 2)
    free(buf);
  return n;
}

int unchanged_ok(int mode, int n) {
  char *buf = NULL;
  if (mode == 2)
    buf = malloc(80);
  for (int i = 0; i < n && i < 20; i++)
    n -= i & 1;
  if (mode == 2)
    free(buf);
  return n;
}

int long_loop_bad(int quiet) {
  char *buf = NULL;
  if (!quiet)
    buf = malloc(80); // LEAK
  for (int i = 0; i < 10000; i++)
    if (buf)
      buf[i % 80] = (char)i;
  if (quiet)
    free(buf);
  return 0;
}

int long_loop_ok(int quiet) {
  char *buf = NULL;
  if (!quiet)
    buf = malloc(80);
  for (int i = 0; i < 10000; i++)
    if (buf)
      buf[i % 80] = (char)i;
  if (!quiet)
    free(buf);
  return 0;
}

int done_flag_bad(FILE *f) {
  char *acc = NULL;
  int done = 0;
  while (!done) {
    int c = fgetc(f);
    if (c == EOF)
      return -1;
    if (c == '\n' || c == 'q') {
      acc = malloc(16); // LEAK
      done = c == 'q' ? 2 : 1;
    }
  }
  if (done == 1)
    free(acc);
  return 0;
}

int done_flag_ok(FILE *f) {
  char *acc = NULL;
  int done = 0;
  while (!done) {
    int c = fgetc(f);
    if (c == EOF)
      return -1;
    if (c == '\n' || c == 'q') {
      acc = malloc(16);
      done = c == 'q' ? 2 : 1;
    }
  }
  if (done >= 1)
    free(acc);
  return 0;
}

int last_of_loop_bad(const char *s) {
  char *tail = NULL;
  int seen = 0;
  for (const char *p = s; *p; p++)
    if (*p == ':')
      seen = 1;
  if (seen)
    tail = strdup(s); // LEAK
  for (const char *p = s; *p; p++)
    if (*p == '=')
      seen = 0;
  if (seen)
    free(tail);
  return seen;
}

int last_of_loop_ok(const char *s) {
  char *tail = NULL;
  int seen = 0;
  for (const char *p = s; *p; p++)
    if (*p == ':')
      seen = 1;
  if (seen)
    tail = strdup(s);
  for (const char *p = s; *p; p++)
    if (*p == '=')
      seen++;
  if (seen || tail)
    free(tail);
  return seen;
}

int per_round_bad(int n) {
  int sum = 0;
  for (int i = 0; i < n; i++) {
    int *t = NULL;
    if (i % 3 == 0)
      t = malloc(sizeof *t); // LEAK
    sum += i;
    if (i % 6 == 0)
      free(t);
  }
  return sum;
}

int per_round_ok(int n) {
  int sum = 0;
  for (int i = 0; i < n; i++) {
    int *t = NULL;
    if (i % 6 == 0)
      t = malloc(sizeof *t);
    sum += i;
    if (i % 3 == 0)
      free(t);
  }
  return sum;
}
