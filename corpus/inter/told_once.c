/* One place to mend is one finding: fields that one call forgets together, and calls of one line that lose the same. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* free() in place of the destructor: four fields, of which the first stands for all. */
struct settings {
  char *host;
  char *user;
  char *shell;
  char *home;
  int level;
};

struct device {
  int id;
  struct settings *settings;
};

int settings_parse(struct settings *s, const char *key, const char *value) {
  if (strcmp(key, "host") == 0) {
    free(s->host);
    s->host = strdup(value); // LEAK D004
  } else if (strcmp(key, "user") == 0) {
    free(s->user);
    s->user = strdup(value);
  } else if (strcmp(key, "shell") == 0) {
    free(s->shell);
    s->shell = strdup(value);
  } else if (strcmp(key, "home") == 0) {
    free(s->home);
    s->home = strdup(value);
  } else
    return -1;
  return 0;
}

void settings_free(struct settings *s) {
  if (!s)
    return;
  free(s->host);
  free(s->user);
  free(s->shell);
  free(s->home);
  free(s);
}

struct settings *settings_default(void) {
  struct settings *s = calloc(1, sizeof *s);
  if (s)
    s->level = 3;
  return s;
}

int device_reset_bad(struct device *d) {
  struct settings *s = settings_default();
  if (!s)
    return -1;
  free(d->settings); // LOST
  d->settings = s;
  return 0;
}

int device_reset_ok(struct device *d) {
  struct settings *s = settings_default();
  if (!s)
    return -1;
  settings_free(d->settings);
  d->settings = s;
  return 0;
}

/* Two calls that stand at one place of the source, in a macro. */
char *shown(int n) {
  char *text = malloc(16);
  if (!text)
    exit(1);
  snprintf(text, 16, "%d", n);
  return text;
}

#define COMPARE(a, b) printf("%s %s\n", shown(a), shown(b))
#define COMPARE_AND_FREE(a, b)  \
  do {                          \
    char *x = shown(a);         \
    char *y = shown(b);         \
    printf("%s %s\n", x, y);    \
    free(x);                    \
    free(y);                    \
  } while (0)

void compare_bad(int a, int b) {
  COMPARE(a, b); // LEAK
}

void compare_ok(int a, int b) {
  COMPARE_AND_FREE(a, b);
}
