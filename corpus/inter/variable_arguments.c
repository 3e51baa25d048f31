// Arguments behind the named ones: freed, kept or only read.
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *join(char *a, char *b) {
  char *r = malloc(strlen(a) + strlen(b) + 1);
  if (!r)
    abort();
  strcpy(r, a);
  strcat(r, b);
  free(a);
  free(b);
  return r;
}

// Frees all that it is given.
static char *join_all(int count, ...) {
  va_list list;
  va_start(list, count);
  char *r = va_arg(list, char *);
  for (int i = 1; i < count; i++)
    r = join(r, va_arg(list, char *));
  va_end(list);
  return r;
}

char *joined_ok(int n) {
  char *result = strdup("");
  for (; n > 0; n--)
    result = join_all(3, result, strdup("$1"), strdup(" , "));
  return result;
}

struct entry {
  char *name;
};

static void set_name(struct entry *e, const char *name) { e->name = strdup(name); }

void result_bad(struct entry *e) {
  set_name(e, join_all(2, strdup("("), strdup(")"))); // LEAK
}

// Only reads.
static size_t length_of_all(int count, ...) {
  size_t length = 0;
  va_list list;
  va_start(list, count);
  for (int i = 0; i < count; i++)
    length += strlen(va_arg(list, char *));
  va_end(list);
  return length;
}

size_t read_bad(const char *s) {
  char *copy = strdup(s); // LEAK
  return length_of_all(1, copy);
}

size_t read_ok(const char *s) {
  char *copy = strdup(s);
  size_t length = length_of_all(1, copy);
  free(copy);
  return length;
}

static void report(const char *format, ...) {
  va_list list;
  va_start(list, format);
  vfprintf(stderr, format, list);
  va_end(list);
}

void reported_bad(const char *s) {
  char *copy = strdup(s); // LEAK
  report("%s\n", copy);
}

struct number {
  int used;
  char *digits;
};

static int set_digits(struct number *n, const char *text) {
  n->digits = strdup(text);
  n->used = n->digits != NULL;
  return n->used ? 0 : -1;
}

static void clear(struct number *n) {
  if (n->digits) {
    free(n->digits);
    n->digits = NULL;
    n->used = 0;
  }
}

// Frees what all of them hold.
static void clear_all(struct number *first, ...) {
  struct number *next = first;
  va_list list;
  va_start(list, first);
  while (next) {
    clear(next);
    next = va_arg(list, struct number *);
  }
  va_end(list);
}

// Looks at all of them.
static int sum_all(struct number *first, ...) {
  struct number *next = first;
  int sum = 0;
  va_list list;
  va_start(list, first);
  while (next) {
    sum += next->used;
    next = va_arg(list, struct number *);
  }
  va_end(list);
  return sum;
}

int held_behind_ok(const char *s) {
  struct number a = {0}, b = {0};
  int err;
  if ((err = set_digits(&a, s)) == 0)
    err = set_digits(&b, s);
  clear_all(&a, &b, NULL);
  return err;
}

int held_behind_bad(const char *s) {
  struct number a = {0}, b = {0};
  int sum = 0;
  if (set_digits(&a, s) == 0 && set_digits(&b, s) == 0) // LEAK
    sum = sum_all(&a, &b, NULL);
  clear(&a);
  return sum;
}

struct saved {
  struct saved *next;
  int n;
  void *args[];
};
static struct saved *saved_lists;

// Gets the whole list and keeps what is in it.
static void new_saved(int n, va_list list) {
  struct saved *e = malloc(sizeof *e + sizeof(void *) * n);
  if (!e)
    exit(1);
  e->n = n;
  va_list copy;
  va_copy(copy, list);
  for (int i = 0; i < n; i++)
    e->args[i] = va_arg(copy, void *);
  va_end(copy);
  e->next = saved_lists;
  saved_lists = e;
}

static void push(int n, ...) {
  va_list list;
  va_start(list, n);
  new_saved(n, list);
  va_end(list);
}

// Gets the whole list and looks at what is in it.
static int lengths(int n, va_list list) {
  int sum = 0;
  for (int i = 0; i < n; i++)
    sum += (int)strlen(va_arg(list, char *));
  return sum;
}

static int measure(int n, ...) {
  va_list list;
  va_start(list, n);
  int sum = lengths(n, list);
  va_end(list);
  return sum;
}

void list_kept_ok(const char *s) {
  char *copy = strdup(s);
  if (copy)
    push(1, (void *)copy);
}

int list_read_bad(const char *s) {
  char *copy = strdup(s); // LEAK
  return copy ? measure(1, copy) : 0;
}
