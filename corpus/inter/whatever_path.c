/* A block that no path takes care of is lost on whichever path is taken, also where there are too many of them to be looked at one by
   one, or callees that are too large to be executed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *prompt;
static int flags[16];
static char *kept;

static void set_flags(const char *text) {
  for (int i = 0; i < 16 && text[i]; i++) {
    if (text[i] == 'a')
      flags[0] ^= i;
    if (text[i] == 'b')
      flags[1] ^= i;
    if (text[i] == 'c')
      flags[2] ^= i;
    if (text[i] == 'd')
      flags[3] ^= i;
    if (text[i] == 'e')
      flags[4] ^= i;
    if (text[i] == 'f')
      flags[5] ^= i;
    if (text[i] == 'g')
      flags[6] ^= i;
    if (text[i] == 'h')
      flags[7] ^= i;
  }
}

static int next_key(void) {
  int key = getchar();
  if (prompt && flags[0])
    puts(prompt);
  return key;
}

/* The name in angles; new in any case. */
static char *in_angles(const char *name) {
  size_t length = strlen(name) + 3;
  char *text = malloc(length);
  if (!text)
    abort();
  snprintf(text, length, "<%s>", name);
  return text;
}

int ask_bad(const char *name) {
  char *saved = prompt;
  int key;
  prompt = in_angles(name); // LEAK
  set_flags(prompt);
  for (int row = 0; row < 10; row++)
    for (int column = 0; column < 10; column++)
      for (int layer = 0; layer < 10; layer++)
        for (int shade = 0; shade < 10; shade++)
          putchar(flags[layer] == shade ? prompt[0] : ' ');
  do
    key = next_key();
  while (key == '\n' || (key == ' ' && flags[1]));
  prompt = saved; // LOST
  return key;
}

int ask_ok(const char *name) {
  char *saved = prompt;
  int key;
  prompt = in_angles(name);
  set_flags(prompt);
  for (int row = 0; row < 10; row++)
    for (int column = 0; column < 10; column++)
      for (int layer = 0; layer < 10; layer++)
        for (int shade = 0; shade < 10; shade++)
          putchar(flags[layer] == shade ? prompt[0] : ' ');
  do
    key = next_key();
  while (key == '\n' || (key == ' ' && flags[1]));
  free(prompt);
  prompt = saved;
  return key;
}

/* Only with a particular flag there is a block. */
static char *skipped(const char *text, int no_result) {
  set_flags(text);
  return no_result ? NULL : in_angles(text);
}

int skip_ok(const char *text, int more) {
  char *rest;
  int count = 0;
  while (*text) {
    set_flags(text);
    rest = skipped(text, 1 | (more & 2));
    count += flags[count & 15];
    text++;
  }
  return count;
}

/* Whoever gets it may keep it further down. */
static void keep_if_long(char *text, int depth) {
  set_flags(text);
  if (depth > 0)
    keep_if_long(text, depth - 1);
  else if (strlen(text) > 8)
    kept = text;
}

int hand_ok(const char *name, int depth) {
  char *text = in_angles(name);
  set_flags(text);
  keep_if_long(text, depth);
  return flags[depth & 15];
}

/* What decides is told by calls, and nobody who could keep the block gets it. */
int draw_bad(const char *name) {
  char *text = in_angles(name); // LEAK
  for (int row = 0; row < 10; row++)
    for (int column = 0; column < 10; column++)
      for (int layer = 0; layer < 10; layer++)
        for (int shade = 0; shade < 10; shade++)
          putchar(flags[layer] == shade ? text[0] : ' ');
  if (fflush(stdout))
    return -1;
  free(text);
  return 0;
}

int draw_ok(const char *name) {
  char *text = in_angles(name);
  int result;
  for (int row = 0; row < 10; row++)
    for (int column = 0; column < 10; column++)
      for (int layer = 0; layer < 10; layer++)
        for (int shade = 0; shade < 10; shade++)
          putchar(flags[layer] == shade ? text[0] : ' ');
  result = fflush(stdout);
  free(text);
  return result;
}
