/* Pointers in packed structures, which nothing aligns. */
#include <stdlib.h>
#include <string.h>

struct __attribute__((packed)) header {
  char name[12];
  struct header *next;
  char *rest;
};

static struct header *header_new(size_t n, struct header *next) {
  struct header *h = malloc(sizeof *h);
  if (!h)
    return NULL;
  h->next = next;
  h->rest = malloc(n);
  if (!h->rest) {
    free(h);
    return NULL;
  }
  return h;
}

static void headers_free(struct header *h) {
  if (!h)
    return;
  headers_free(h->next);
  free(h->rest);
  free(h);
}

static void headers_drop(struct header *h) {
  if (!h)
    return;
  headers_drop(h->next);
  free(h);
}

int read_ok(const char *raw, size_t n) {
  struct header *h = header_new(n, NULL);
  if (!h)
    return -1;
  memcpy(h->name, raw, sizeof h->name);
  int first = h->name[0];
  headers_free(h);
  return first;
}

int read_bad(const char *raw, size_t n) {
  struct header *h = header_new(n, NULL); // LEAK D004
  if (!h)
    return -1;
  memcpy(h->name, raw, sizeof h->name);
  int first = h->name[0];
  headers_drop(h);
  return first;
}
