/* Struct assignment and memcpy copy the references, memset removes them. */
#include <stdlib.h>
#include <string.h>

struct pair {
  char *l, *r;
};

struct wide {
  int tag;
  struct pair p;
  long pad[6];
};

int assigned_bad(const char *s) {
  struct pair a = {strdup(s), NULL};
  a.r = strdup(s); // LEAK
  struct pair b = a;
  free(b.l);
  a.l = b.l = NULL;
  return a.r == b.r;
}

int assigned_ok(const char *s) {
  struct pair a = {strdup(s), NULL};
  a.r = strdup(s);
  struct pair b = a;
  free(b.l);
  free(a.r);
  return 0;
}

int memcpy_bad(const char *s) {
  struct wide w, v;
  memset(&w, 0, sizeof w);
  w.p.l = strdup(s); // LEAK
  memcpy(&v, &w, sizeof v);
  w.p.l = NULL;
  v.p.l = NULL; // LOST
  free(w.p.l);
  free(v.p.l);
  return v.tag;
}

int memcpy_ok(const char *s) {
  struct wide w, v;
  memset(&w, 0, sizeof w);
  w.p.l = strdup(s);
  memcpy(&v, &w, sizeof v);
  w.p.l = NULL;
  free(v.p.l);
  return v.tag;
}

int memset_bad(const char *s) {
  struct pair a;
  a.l = strdup(s); // LEAK
  a.r = NULL;
  memset(&a, 0, sizeof a); // LOST
  free(a.l);
  return 0;
}

int memset_ok(const char *s) {
  struct pair a;
  a.l = strdup(s);
  a.r = NULL;
  free(a.l);
  memset(&a, 0, sizeof a);
  free(a.l);
  return 0;
}

int field_of_copy_bad(const char *s) {
  struct wide w = {.tag = 1, .p = {strdup(s), NULL}}; // LEAK
  struct pair q = w.p;
  w.p = (struct pair){NULL, NULL};
  q = w.p; // LOST
  free(q.l);
  return w.tag;
}

int field_of_copy_ok(const char *s) {
  struct wide w = {.tag = 1, .p = {strdup(s), NULL}};
  struct pair q = w.p;
  w.p = (struct pair){NULL, NULL};
  free(q.l);
  return w.tag;
}
