/* What is lost where the program reads through a null pointer next, nobody misses. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static char *add(char *text, const char *more) {
  char *longer = realloc(text, strlen(text) + strlen(more) + 1);
  if (!longer)
    return NULL;
  return strcat(longer, more);
}

static int first(const char *text) {
  return text[0];
}

static void lower(char *text) {
  int n = first(text);
  if (n)
    text[0] = (char)tolower(n);
}

static void lower_if_any(char *text) {
  if (text)
    lower(text);
}

char *used_ok(const char *more) {
  char *text = strdup("a");
  if (!text)
    return NULL;
  text = add(text, more);
  lower(text);
  return text;
}

char *tested_bad(const char *more) {
  char *text = strdup("a"); // LEAK
  if (!text)
    return NULL;
  text = add(text, more); // LOST
  lower_if_any(text);
  return text;
}

// Writes through what realloc returned, at once.
static char *append(char *text, const char *more) {
  return strcat(realloc(text, strlen(text) + strlen(more) + 1), more);
}

static char *resize(char *text, size_t n) {
  return realloc(text, n);
}

char *appended_ok(const char *more) {
  char *text = strdup("a");
  if (!text)
    return NULL;
  text = append(text, more);
  text = append(text, more);
  return text;
}

char *resized_bad(size_t n) {
  char *text = strdup("a"); // LEAK
  if (!text)
    return NULL;
  text = resize(text, n + 1); // LOST
  return text;
}

struct list {
  char **items;
  int count, room;
};

// Writes through the new block at once, without looking.
void added_ok(struct list *list, char *item) {
  if (list->count >= list->room) {
    list->room += 8;
    list->items = realloc(list->items, sizeof(char *) * list->room);
  }
  list->items[list->count++] = item;
}

struct list *filled_ok(char **items) {
  struct list *list = calloc(1, sizeof *list);
  if (!list)
    abort();
  list->room = 8;
  list->items = malloc(sizeof(char *) * list->room);
  if (!list->items)
    abort();
  for (; *items; items++) {
    if (list->count >= list->room) {
      list->room += 8;
      list->items = realloc(list->items, sizeof(char *) * list->room);
    }
    list->items[list->count++] = *items;
  }
  return list;
}

struct list *filled_bad(char **items) {
  struct list *list = calloc(1, sizeof *list);
  if (!list)
    abort();
  list->room = 8;
  list->items = malloc(sizeof(char *) * list->room); // LEAK
  if (!list->items)
    abort();
  for (; *items; items++) {
    if (list->count >= list->room) {
      list->room += 8;
      list->items = realloc(list->items, sizeof(char *) * list->room); // LEAK
    }
    if (list->items)
      list->items[list->count++] = *items;
  }
  return list;
}

// A pointer into the new block is made anew, and written through in the next turn.
char *read_ok(const char *input, char stop) {
  int size = 16, count = 0;
  char *buffer = malloc(size), *next = buffer;
  if (!buffer)
    abort();
  while (*input && *input != stop) {
    *next++ = *input++;
    if (++count == size) {
      buffer = realloc(buffer, size *= 2);
      next = buffer + count;
    }
  }
  *next = '\0';
  return buffer;
}

char *read_bad(const char *input, char stop) {
  int size = 16, count = 0;
  char *buffer = malloc(size); // LEAK
  if (!buffer)
    abort();
  while (*input && *input != stop) {
    buffer[count] = *input++;
    if (++count == size)
      if (!(buffer = realloc(buffer, size *= 2))) // LOST
        return NULL;
  }
  buffer[count] = '\0';
  return buffer;
}

// Writes behind what realloc returned: nowhere, if it is null.
char *joined_ok(const char *const *words) {
  size_t at = 0, length = 1;
  char *text = strdup("");
  if (!text)
    return NULL;
  for (; *words; words++) {
    length += strlen(*words);
    text = realloc(text, length);
    strcpy(text + at, *words);
    at = length - 1;
  }
  return text;
}

char *joined_bad(const char *const *words) {
  size_t at = 0, length = 1;
  char *text = strdup(""); // LEAK
  if (!text)
    return NULL;
  for (; *words; words++) {
    length += strlen(*words);
    text = realloc(text, length); // LEAK // LOST
    if (text)
      strcpy(text + at, *words);
    at = length - 1;
  }
  return text;
}
