/* Interior pointers hold the whole block. */
#include <ctype.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct link {
  struct link *next;
};

struct task {
  int id;
  struct link node;
  char name[16];
};

size_t trim_bad(const char *s) {
  char *p = strdup(s); // LEAK
  if (!p)
    return 0;
  while (isspace((unsigned char)*p))
    p++;
  return strlen(p);
}

size_t trim_ok(const char *s) {
  char *base = strdup(s), *p = base;
  if (!p)
    return 0;
  while (isspace((unsigned char)*p))
    p++;
  size_t n = strlen(p);
  free(base);
  return n;
}

int header_bad(size_t n) {
  char *user = malloc(n + 16); // LEAK
  if (!user)
    return -1;
  user += 16;
  user[0] = 1;
  user = NULL; // LOST
  return user != NULL;
}

int header_ok(size_t n) {
  char *user = malloc(n + 16);
  if (!user)
    return -1;
  user += 16;
  user[0] = 1;
  free(user - 16);
  user = NULL;
  return user != NULL;
}

int member_address_bad(int id) {
  struct task *t = malloc(sizeof *t); // LEAK
  if (!t)
    return -1;
  t->id = id;
  struct link *l = &t->node;
  t = NULL;
  l->next = NULL;
  return l->next == NULL;
}

int member_address_ok(int id) {
  struct task *t = malloc(sizeof *t);
  if (!t)
    return -1;
  t->id = id;
  struct link *l = &t->node;
  t = NULL;
  l->next = NULL;
  t = (struct task *)((char *)l - offsetof(struct task, node));
  free(t);
  return 0;
}

void member_escapes_bad(struct link *head, int id) {
  struct task *t = malloc(sizeof *t); // LEAK
  if (!t)
    return;
  t->id = id;
  t->node.next = head->next;
}

void member_escapes_ok(struct link *head, int id) {
  struct task *t = malloc(sizeof *t);
  if (!t)
    return;
  t->id = id;
  t->node.next = head->next;
  head->next = &t->node;
}

int search_result_bad(const char *s) {
  char *kv = strdup(s); // LEAK
  if (!kv)
    return -1;
  char *eq = strchr(kv, '=');
  if (!eq)
    return 1;
  *eq = '\0';
  free(kv);
  return 0;
}

int search_result_ok(const char *s) {
  char *kv = strdup(s);
  if (!kv)
    return -1;
  char *eq = strchr(kv, '=');
  if (!eq) {
    free(kv);
    return 1;
  }
  *eq = '\0';
  free(kv);
  return 0;
}
