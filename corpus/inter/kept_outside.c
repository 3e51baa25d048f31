/* Functions outside of the program that promise not to change what they get: data may be kept, texts are copied. */
#include <stdlib.h>
#include <string.h>

struct expression;

int expression_set(struct expression *e, int key, const void *data, unsigned size);
int expression_name(struct expression *e, const char *name);
int checksum(const void *data, unsigned size);

int info_ok(struct expression *e, const void *raw, unsigned size) {
  void *info = calloc(1, size);
  if (!info)
    return -1;
  memcpy(info, raw, size);
  expression_set(e, 1, info, size);
  return 0;
}

int name_bad(struct expression *e, const char *first, const char *last) {
  char *name = malloc(strlen(first) + strlen(last) + 1); // LEAK D001
  if (!name)
    return -1;
  strcpy(name, first);
  strcat(name, last);
  expression_name(e, name);
  return 0;
}

/* There is nobody who could keep it. */
int sum_bad(const void *raw, unsigned size) {
  void *copy = calloc(1, size); // LEAK D001
  if (!copy)
    return -1;
  memcpy(copy, raw, size);
  return checksum(copy, size);
}

/* Freed on one way: it is still the function's own. */
int info_freed_bad(struct expression *e, const void *raw, unsigned size, int last) {
  void *info = calloc(1, size); // LEAK D002
  if (!info)
    return -1;
  memcpy(info, raw, size);
  expression_set(e, 1, info, size);
  if (last)
    return 1;
  free(info);
  return 0;
}

/* The library is known to copy its items. */
int pam_set_item(struct expression *handle, int type, const void *item);

int prompt_bad(struct expression *handle, const char *host) {
  char *prompt = malloc(strlen(host) + sizeof " login: "); // LEAK D001
  if (!prompt)
    return -1;
  strcpy(prompt, host);
  strcat(prompt, " login: ");
  return pam_set_item(handle, 9, prompt);
}
