/* A list with a pointer to its last node: what is put at its end overwrites nothing, whatever else is decided on the way. */
#include <ctype.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct attribute {
  struct attribute *next;
  int group, tag;
  char *name, *language;
  unsigned count;
};

struct message {
  int operation;
  struct attribute *first_ok, *last, *current, *before;
  struct attribute *only_bad;
};

struct word {
  int references;
  char text[8];
};

struct pool;

extern struct pool *new_pool(int (*compare)(struct word *, struct word *));
extern void *find_in(struct pool *pool, const void *key);
extern int add_to(struct pool *pool, void *item);

static struct pool *pool;

static int compare(struct word *a, struct word *b) {
  return strcmp(a->text, b->text);
}

/* One copy of each text. */
static char *intern(const char *text) {
  struct word *word, *key;
  if (!text)
    return NULL;
  if (!pool)
    pool = new_pool(compare);
  if (!pool)
    return NULL;
  key = (struct word *)(text - offsetof(struct word, text));
  if ((word = find_in(pool, key)) != NULL) {
    word->references++;
    return word->text;
  }
  word = calloc(1, sizeof *word + strlen(text));
  if (!word)
    return NULL;
  word->references = 1;
  strcpy(word->text, text);
  add_to(pool, word);
  return word->text;
}

static struct attribute *append(struct message *message, const char *name, int group, int tag, int count) {
  struct attribute *attribute;
  if (!message || count < 0)
    return NULL;
  attribute = calloc(1, sizeof *attribute);
  if (attribute) {
    if (name)
      attribute->name = intern(name);
    attribute->group = group;
    attribute->tag = tag;
    attribute->count = count;
    if (message->last)
      message->last->next = attribute;
    else
      message->first_ok = attribute;
    message->before = message->last;
    message->last = message->current = attribute;
  }
  return attribute;
}

static char *plain(const char *value, char *buffer, size_t size) {
  char *at = buffer, *end = buffer + size - 1;
  while (*value && at < end) {
    if (*value == '_') {
      *at++ = '-';
      value++;
    } else {
      *at++ = (char)tolower(*value++ & 255);
    }
  }
  *at = '\0';
  return buffer;
}

static char *plain_language(const char *language, char *buffer, size_t size) {
  if (!strcmp(language, "c") || !strcmp(language, "posix"))
    language = "en";
  return plain(language, buffer, size);
}

/* Work that uses up what the execution of a path may take. */
#define MIX(x) ((x) = ((x) ^ ((x) >> 3)) * 31 + ((x) << 5))
#define MIX8(x) (MIX(x), MIX(x), MIX(x), MIX(x), MIX(x), MIX(x), MIX(x), MIX(x))
#define MIX64(x) (MIX8(x), MIX8(x), MIX8(x), MIX8(x), MIX8(x), MIX8(x), MIX8(x), MIX8(x))

enum { CHARSET = 1, LANGUAGE = 2, CONSTANT = 256 };

struct attribute *add_text_ok(struct message *message, int group, int tag, const char *name, const char *language, const char *text) {
  struct attribute *attribute;
  char code[32];
  int plain_tag = tag & 255;
  if (!message || !name || group < 0 || group == 3 || group >= 16)
    return NULL;
  if (language && (tag & CONSTANT) && strcmp(language, plain_language(language, code, sizeof code)))
    tag = plain_tag;
  else if (text && tag == (CHARSET | CONSTANT) && strcmp(text, plain(text, code, sizeof code)))
    tag = plain_tag;
  else if (text && tag == (LANGUAGE | CONSTANT) && strcmp(text, plain_language(text, code, sizeof code)))
    tag = plain_tag;
  if ((attribute = append(message, name, group, tag, 1)) == NULL)
    return NULL;
  MIX64(attribute->count);
  if (tag & CONSTANT) {
    attribute->language = (char *)language;
    attribute->name = (char *)text;
  } else {
    if (language)
      attribute->language = intern(plain_language(language, code, sizeof code));
    if (text) {
      if (tag == CHARSET)
        attribute->name = intern(plain(text, code, sizeof code));
      else if (tag == LANGUAGE)
        attribute->name = intern(plain_language(text, code, sizeof code));
      else
        attribute->name = intern(text);
    }
  }
  return attribute;
}

static void set_text_bad(struct message *message, int tag) {
  struct attribute *attribute = calloc(1, sizeof *attribute);
  if (!attribute)
    exit(1);
  attribute->tag = tag;
  message->only_bad = attribute;
}

static struct message *new_message(int operation) {
  struct message *message = calloc(1, sizeof *message);
  if (!message)
    exit(1);
  message->operation = operation;
  return message;
}

int last_error(void);
void report(const char *text);
int send_message(struct message *message, const char *language);

int restart(int id, const char *uri, const char *language) {
  struct message *message = new_message(id);
  add_text_ok(message, 1, id & 511, "uri", language, uri);
  add_text_ok(message, 1, id & 255, "user", language, uri);
  set_text_bad(message, 3); // LEAK
  set_text_bad(message, 4);
  send_message(message, language);
  if (last_error() > 7)
    return 1;
  if (last_error() == 3)
    report("gone");
  if (last_error() == 4)
    report("busy");
  if (last_error() == 5)
    report("denied");
  if (last_error() == 6)
    report("unknown");
  return 0;
}
