/* Values that are passed and returned as two words: the kind is one byte of the first. */
#include <stdlib.h>
#include <string.h>

enum { NONE, TEXT, ERROR };

struct value {
  unsigned char kind;
  unsigned char flags;
  short offset;
  int size;
  union {
    void *block;
    double number;
  } u;
};

struct error {
  int users;
  struct value message;
};

static const struct value nothing = {NONE, 0, 0, 0, {0}};

static struct value text(const char *from) {
  char *block = strdup(from);
  if (!block)
    abort();
  struct value value = {TEXT, 1, 0, (int)strlen(from), {block}};
  return value;
}

static int kind_of(struct value value) { return value.kind & 15; }

/* Takes the message. */
static struct value error_with(struct value message) {
  if (kind_of(message) == NONE)
    return nothing;
  struct error *error = malloc(sizeof *error);
  if (!error)
    abort();
  error->users = 1;
  error->message = message;
  struct value value = {ERROR, 0, 0, 0, {error}};
  return value;
}

/* Takes errors only. */
static struct value only_errors(struct value value) {
  if (kind_of(value) != ERROR)
    return nothing;
  return value;
}

struct value told_ok(int depth) {
  if (depth > 10)
    return error_with(text("too deep"));
  return nothing;
}

struct value handed_on_ok(struct value value) {
  if (kind_of(value) == NONE)
    return error_with(text("nothing"));
  return value;
}

struct value dropped_bad(void) {
  return only_errors(text("no error")); // LEAK
}

// A structure that is passed by value and copied to where another function says: its block is kept there.
struct tagged {
  int kind;
  char *text;
};

struct tagged *slot_of(void *table, int key);

static struct tagged tagged_new(const char *text) {
  struct tagged tagged = {1, strdup(text)};
  return tagged;
}

static void put_tagged(void *table, int key, struct tagged tagged) {
  *slot_of(table, key) = tagged;
}

void put_into_slot_ok(void *table) {
  put_tagged(table, 1, tagged_new("text"));
}

static int count_tagged(void *table, int key, struct tagged tagged) {
  return slot_of(table, key)->kind == tagged.kind;
}

int not_put_bad(void *table) {
  return count_tagged(table, 1, tagged_new("text")); // LEAK
}
