/* Structs and arrays of structs on the stack that own heap blocks. */
#include <stdlib.h>
#include <string.h>

struct strlist {
  char **items;
  size_t nr, alloc;
};

struct request {
  struct strlist headers;
  char *body;
  int status;
};

int request_bad(const char *body, int status) {
  struct request r = {{NULL, 0, 0}, NULL, status};
  r.headers.items = calloc(8, sizeof(char *)); // LEAK
  if (!r.headers.items)
    return -1;
  r.body = strdup(body);
  if (!r.body)
    return -1;
  free(r.body);
  free(r.headers.items);
  return r.status;
}

int request_ok(const char *body, int status) {
  struct request r = {{NULL, 0, 0}, NULL, status};
  r.headers.items = calloc(8, sizeof(char *));
  if (!r.headers.items)
    return -1;
  r.body = strdup(body);
  if (!r.body) {
    free(r.headers.items);
    return -1;
  }
  free(r.body);
  free(r.headers.items);
  return r.status;
}

int two_structs_bad(size_t n) {
  struct strlist a = {0}, b = {0};
  a.items = malloc(n);
  b.items = malloc(n); // LEAK
  free(a.items);
  a.items = NULL;
  return b.nr == a.nr;
}

int two_structs_ok(size_t n) {
  struct strlist a = {0}, b = {0};
  a.items = malloc(n);
  b.items = malloc(n);
  free(a.items);
  free(b.items);
  return b.nr == a.nr;
}

int array_of_structs_bad(const char *s) {
  struct {
    int id;
    char *txt;
  } rows[2] = {{0, NULL}, {1, NULL}};
  rows[0].txt = strdup(s);
  rows[1].txt = strdup(s); // LEAK
  free(rows[0].txt);
  return rows[1].id;
}

int array_of_structs_ok(const char *s) {
  struct {
    int id;
    char *txt;
  } rows[2] = {{0, NULL}, {1, NULL}};
  rows[0].txt = strdup(s);
  rows[1].txt = strdup(s);
  free(rows[0].txt);
  free(rows[1].txt);
  return rows[1].id;
}
