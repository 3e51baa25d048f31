// What a function without names for its arguments gets is shown, not given away; freed by its address it is freed.
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct host {
  char *name;
  char *alias;
  int port;
};

static FILE *log_file;

static void note(const char *format, ...) {
  va_list args;
  va_start(args, format);
  vfprintf(log_file, format, args);
  va_end(args);
}

static void clear(char **place) {
  free(*place);
  *place = NULL;
}

void host_name(struct host *host, const char *name) {
  clear(&host->name);
  host->name = strdup(name);
  note("%s\n", host->name);
}

void host_alias(struct host *host, const char *alias) {
  char *old = host->alias;
  note("%s is no more\n", old);
  clear(&old);
  host->alias = strdup(alias); // LEAK
  note("%s is new\n", host->alias);
}

void host_free(struct host *host) {
  char *name = host->name;
  clear(&name);
  free(host);
}
