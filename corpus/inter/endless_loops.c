/* Servers and threads that never leave their loop: what they hold is no leak, what a round loses is one. */
#include <stdlib.h>
#include <string.h>

int wait_event(void);
void reply(const char *text);

static char *read_request(void) {
  char *r = malloc(128);
  if (!r)
    return NULL;
  memset(r, 0, 128);
  r[0] = (char)wait_event();
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
  while (1) {
    char *job = malloc(64); // LEAK
    if (wait_event() == 's')
      continue;
    reply(name);
    free(job);
  }
  return NULL;
}

void *worker_ok(void *arg) {
  char *name = strdup(arg);
  while (1) {
    char *job = malloc(64);
    if (wait_event() == 's') {
      free(job);
      continue;
    }
    reply(name);
    free(job);
  }
  return NULL;
}

static void serve_forever(void) {
  do {
    if (wait_event())
      reply("event");
  } while (1);
}

static void serve_until_quit(void) {
  while (wait_event() != 'q')
    reply("event");
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
  int *conf = malloc(sizeof *conf); // OK: the server loop ends the thread, not the function
  if (!conf)
    return -1;
  *conf = port;
  serve_forever();
  return 0;
}
