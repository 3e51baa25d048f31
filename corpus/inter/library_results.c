// What library functions return says what they have allocated.
#define _GNU_SOURCE
#include <dirent.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int printed_ok(const char *a, const char *b) {
  char *path = NULL;
  if (asprintf(&path, "%s/%s", a, b) <= 0)
    return -1;
  int length = (int)strlen(path);
  free(path);
  return length;
}

int printed_bad(const char *a, const char *b) {
  char *path = NULL;
  int length = asprintf(&path, "%s/%s", a, b); // LEAK
  if (length <= 0 || length > 100)
    return -1;
  free(path);
  return length;
}

int scanned_ok(const char *directory) {
  struct dirent **list;
  int n = scandir(directory, &list, NULL, alphasort);
  if (n <= 0)
    return -1;
  for (int i = 0; i < n; i++)
    free(list[i]);
  free(list);
  return n;
}

static pthread_key_t key;

static int *own_counter(void) {
  int *counter = pthread_getspecific(key);
  if (!counter) {
    counter = calloc(1, sizeof *counter);
    if (!counter)
      abort();
    pthread_setspecific(key, counter);
  }
  return counter;
}

void count_ok(void) { ++*own_counter(); }

static jmp_buf top;
void run(char *takes_it);

int jumped_ok(const char *s) {
  char *copy = strdup(s);
  if (!copy)
    return -1;
  int code = setjmp(top);
  if (code == 0)
    run(copy);
  return code;
}

// The name itself comes back, empty where there is none.
char *temporary_ok(const char *prefix) {
  char *name = malloc(strlen(prefix) + 7);
  if (!name)
    return NULL;
  strcpy(name, prefix);
  strcat(name, "XXXXXX");
  name = mktemp(name);
  return name;
}

char *temporary_bad(const char *prefix) {
  char *name = malloc(strlen(prefix) + 7); // LEAK
  if (!name)
    return NULL;
  strcpy(name, prefix);
  strcat(name, "XXXXXX");
  name = mkdtemp(name); // LOST
  return name;
}
