/* An arena that callers may do without, and none of them does: the block that would then belong to the caller is never made. Callers
 * of callers hand on the arena that they got. The twin has one caller that does without. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct link {
  struct link *next;
};

struct arena {
  struct link *list;
};

struct text {
  int room, length;
  char *bytes;
};

static void *arena_get(size_t n, struct arena *arena) {
  void *block;
  if (arena) {
    struct link *link = malloc(n + sizeof *link);
    if (!link)
      exit(1);
    link->next = arena->list;
    arena->list = link;
    block = link + 1;
  } else {
    block = malloc(n);
    if (!block)
      exit(1);
  }
  memset(block, 0, n);
  return block;
}

static void arena_free(struct arena *arena) {
  struct link *link = arena->list;
  arena->list = NULL;
  while (link) {
    struct link *next = link->next;
    free(link);
    link = next;
  }
}

static struct text text_in(size_t n, struct arena *arena) {
  struct text t;
  t.room = (int)n;
  t.length = 0;
  t.bytes = arena_get(n, arena);
  return t;
}

static void text_add(struct text *t, long n) {
  t->length = snprintf(t->bytes, (size_t)t->room, "%ld", n);
}

static const char *text_bytes(const struct text *t) {
  return t->length >= 0 ? t->bytes : NULL;
}

/* All callers pass the address of an arena, or what they got. */
static void show_seconds_ok(long n, struct arena *arena) {
  struct text out = text_in(64, arena);
  text_add(&out, n);
  puts(text_bytes(&out) ? out.bytes : "?");
}

static void show_time_ok(long n, struct arena *arena) {
  show_seconds_ok(n, arena);
}

/* One caller passes null, through another function. */
static void show_seconds_bad(long n, struct arena *arena) {
  struct text out = text_in(64, arena); // LEAK
  text_add(&out, n);
  puts(text_bytes(&out) ? out.bytes : "?");
}

static void show_time_bad(long n, struct arena *arena) {
  show_seconds_bad(n, arena);
}

/* The test stands in the function itself. */
static int name_length_ok(const char *s, char **out) {
  char *copy = strdup(s);
  if (!copy)
    return -1;
  int n = (int)strlen(copy);
  if (out)
    *out = copy;
  return n;
}

static int lower_length_ok(const char *s, char **out) {
  return name_length_ok(s, out);
}

static int name_length_bad(const char *s, char **out) {
  char *copy = strdup(s); // LEAK
  if (!copy)
    return -1;
  int n = (int)strlen(copy);
  if (out)
    *out = copy;
  return n;
}

static int lower_length_bad(const char *s, char **out) {
  return name_length_bad(s, out);
}

int clock_tick(long now) {
  struct arena arena = {0};
  show_time_ok(now, &arena);
  show_seconds_ok(now + 1, &arena);
  show_time_bad(now, &arena);
  show_time_bad(now, now > 5 ? &arena : NULL);
  arena_free(&arena);
  return 0;
}

int measure(const char *s) {
  char *name = NULL, *other = NULL;
  int n = lower_length_ok(s, &name) + name_length_ok(s, &other);
  free(name);
  free(other);
  return n;
}

int measure_only(const char *s) {
  return lower_length_bad(s, NULL);
}

/* A function that is called from anywhere, but whose first act is to ask a callee that reads through the argument. */
struct line {
  int state;
  struct arena arena;
};

int line_state(struct line *l) {
  return l->state;
}

void *line_get(struct line *l, size_t n) {
  return arena_get(n, l ? &l->arena : NULL);
}

int line_start_ok(struct line *l) {
  if (line_state(l) != 3)
    return -1;
  char *buffer = line_get(l, 64);
  buffer[0] = 'x';
  return 0;
}

int line_start_bad(struct line *l, int state) {
  if (state != 3)
    return -1;
  char *buffer = line_get(l, 64); // LEAK
  buffer[0] = 'x';
  return 0;
}
