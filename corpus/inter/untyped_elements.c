/* Arrays of any type: what the caller's variable holds goes into the array, so many bytes as an element has. */
#include <stdlib.h>
#include <string.h>

struct array {
  void *elements;
  int count;
  size_t size;
  int room;
};

static struct array texts;

static void append(struct array *array, const void *element, int n) {
  if (!element || n == 0)
    return;
  if (n + array->count > array->room) {
    int room = n + array->count + 8;
    void *elements = realloc(array->elements, room * array->size);
    if (!elements)
      abort();
    array->elements = elements;
    array->room = room;
  }
  memcpy((char *)array->elements + array->count * array->size, element, n * array->size);
  array->count += n;
}

static int same(struct array *array, const void *element) {
  char copy[64];
  memcpy(copy, element, array->size);
  return array->count && memcmp(copy, array->elements, array->size) == 0;
}

void appended_ok(const char *text) {
  char *copy = strdup(text);
  if (!copy)
    abort();
  append(&texts, &copy, 1);
}

int compared_bad(const char *text) {
  char *copy = strdup(text); // LEAK
  if (!copy)
    abort();
  return same(&texts, &copy);
}

void bytes_ok(struct array *array, const char *text) {
  char *copy = strdup(text);
  if (!copy)
    abort();
  append(array, copy, 1);
  free(copy);
}

void bytes_bad(struct array *array, const char *text) {
  char *copy = strdup(text); // LEAK
  if (!copy)
    abort();
  append(array, copy, 1);
}
