/* Servers and threads that never leave their loop: what they hold is no leak, what a round loses is one. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

int wait_event(char *buf, size_t n);
void reply(const char *text);

static char *read_request(void) {
  char *r = malloc(128);
  if (!r)
    return NULL;
  wait_event(r, 128);
  return r;
}

void server_bad(void) {
  char *scratch = malloc(4096);
  for (;;) {
    char *req = read_request(); // LEAK
    if (!req)
      continue;
    if (scratch)
      memcpy(scratch, req, 128);
    reply(req);
  }
}

void server_ok(void) {
  char *scratch = malloc(4096);
  for (;;) {
    char *req = read_request();
    if (!req)
      continue;
    if (scratch)
      memcpy(scratch, req, 128);
    reply(req);
    free(req);
  }
}

void *worker_bad(void *arg) {
  char *name = strdup(arg);
  char line[64];
  while (1) {
    char *job = malloc(64); // LEAK
    wait_event(line, sizeof line);
    if (job && line[0] == 's')
      continue;
    reply(name);
    free(job);
  }
  return NULL;
}

void *worker_ok(void *arg) {
  char *name = strdup(arg);
  char line[64];
  while (1) {
    char *job = malloc(64);
    wait_event(line, sizeof line);
    if (job && line[0] == 's') {
      free(job);
      continue;
    }
    reply(name);
    free(job);
  }
  return NULL;
}

static void serve_forever(void) {
  char line[32];
  do {
    wait_event(line, sizeof line);
    reply(line);
  } while (1);
}

static void serve_until_quit(void) {
  char line[32];
  do {
    wait_event(line, sizeof line);
    reply(line);
  } while (line[0] != 'q');
}

int start_bad(int port) {
  int *conf = malloc(sizeof *conf); // LEAK
  if (!conf)
    return -1;
  *conf = port;
  serve_until_quit();
  return 0;
}

int start_ok(int port) {
  int *conf = malloc(sizeof *conf);
  if (!conf)
    return -1;
  *conf = port;
  serve_forever();
  return 0;
}
