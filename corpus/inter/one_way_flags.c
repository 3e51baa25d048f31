/* A function that fills a variable is called in a loop, until a flag is set that nobody takes back. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int starting = 1, waiting = 1;
static char *history_ok, *history_bad;
static int interactive;

static void read_history_ok(void) {
  const char *home = getenv("HOME");
  if (!home)
    home = ".";
  history_ok = malloc(strlen(home) + 10);
  if (!history_ok)
    exit(1);
  sprintf(history_ok, "%s/.history", home);
  puts(history_ok);
}

static void read_history_bad(void) {
  const char *home = getenv("HOME");
  if (!home)
    home = ".";
  history_bad = malloc(strlen(home) + 10); // LEAK
  if (!history_bad)
    exit(1);
  sprintf(history_bad, "%s/.history", home);
  puts(history_bad);
}

static void begin_ok(void) {
  if (interactive)
    read_history_ok();
}

static void begin_bad(void) {
  if (interactive)
    read_history_bad();
}

/* Comes here only once. */
static void start(void) {
  if (!getenv("READY"))
    return;
  begin_ok();
  starting = 0;
}

/* Somebody waits again. */
static void wait_for(void) {
  begin_bad();
  waiting = 0;
}

int find(const char *word);
void drop_table(void);

int main(int argc, char **argv) {
  char line[80];
  interactive = argc > 1;
  while (fgets(line, sizeof line, stdin)) {
    if (starting)
      start();
    if (waiting)
      wait_for();
    if (line[0] == 'w')
      waiting = 1;
    if (line[0] == 'd')
      drop_table();
    if (find(line))
      puts("found");
  }
  if (history_ok)
    puts(history_ok);
  if (history_bad)
    puts(history_bad);
  return argv[1] != NULL;
}

/* A pointer that the same function fills is the flag. */
static char *table_ok, *key_ok, *table_bad, *key_bad;

static void prepare_ok(void) {
  key_ok = malloc(10);
  table_ok = malloc(100);
  if (!key_ok || !table_ok)
    exit(1);
}

static void prepare_bad(void) {
  key_bad = malloc(10); // LEAK
  table_bad = malloc(100);
  if (!key_bad || !table_bad)
    exit(1);
}

int find(const char *word) {
  if (!table_ok)
    prepare_ok();
  if (!table_bad)
    prepare_bad();
  key_ok[0] = key_bad[0] = word[0];
  return strcmp(table_ok, key_ok) == 0 || strcmp(table_bad, key_bad) == 0;
}

void drop_table(void) {
  free(table_bad);
  table_bad = NULL;
}
