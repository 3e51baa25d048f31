/* Items of a ring of nodes that is kept in order: the node goes to the beginning, to the end or before another one. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct context;
int context_level(const struct context *context);
void context_log(const struct context *context, const char *format, ...);

struct link {
  struct link *next, *prev;
};

struct list {
  struct link link;
  void *data;
};

struct file {
  const char *path;
  int is_single;
  char name[];
};

static void link_before(struct link *list, struct link *link) {
  if (list == NULL) {
    link->next = link->prev = link;
    return;
  }
  link->next = list;
  link->prev = list->prev;
  list->prev->next = link;
  list->prev = link;
}

static struct list *list_append(struct list *list, void *data) {
  struct list *new = malloc(sizeof *new);
  if (!new)
    return NULL;
  new->data = data;
  link_before(list ? &list->link : NULL, &new->link);
  return list ? list : new;
}

static struct list *list_prepend(struct list *list, void *data) {
  struct list *new = malloc(sizeof *new);
  if (!new)
    return NULL;
  new->data = data;
  link_before(list ? &list->link : NULL, &new->link);
  return new;
}

static struct list *list_insert(struct list *list, void *data) {
  struct list *new;
  if (!list)
    return list_append(list, data);
  new = malloc(sizeof *new);
  if (!new)
    return NULL;
  new->data = data;
  link_before(&list->link, &new->link);
  return new;
}

static struct list *list_next(const struct list *list, const struct list *at) {
  if (!list || !at || at->link.next == &list->link)
    return NULL;
  return (struct list *)at->link.next;
}

static int insert_sorted(struct context *context, struct list **list, const char *path, const char *name) {
  struct list *at, *new;
  struct file *file;
  int order = -1, is_single = 0;

  if (name == NULL) {
    name = basename(path);
    is_single = 1;
  }
  for (at = *list; at; at = list_next(*list, at)) {
    file = at->data;
    if ((order = strcmp(name, file->name)) <= 0)
      break;
  }
  if (order == 0) {
    if (context_level(context) >= 7)
      context_log(context, "%s is there already", name);
    return -EEXIST;
  }
  file = malloc(sizeof *file + strlen(name) + 1);
  if (!file)
    return -ENOMEM;
  strcpy(file->name, name);
  file->path = path;
  file->is_single = is_single;
  if (at == NULL)
    new = list_append(*list, file);
  else if (at == *list)
    new = list_prepend(*list, file);
  else
    new = list_insert(at, file);
  if (!new) {
    free(file);
    return -ENOMEM;
  }
  if (at == NULL || at == *list)
    *list = new;
  return 0;
}

int add_all_ok(struct context *context, struct list **list, const char *path, const char *const *names) {
  for (; *names; names++)
    insert_sorted(context, list, path, *names);
  return 0;
}

/* The item is freed nowhere if it is there already. */
int add_bad(struct list **list, const char *path, const char *name) {
  struct file *file = malloc(sizeof *file + strlen(name) + 1); // LEAK
  if (!file)
    return -ENOMEM;
  strcpy(file->name, name);
  file->path = path;
  file->is_single = 1;
  if (*list && strcmp(((struct file *)(*list)->data)->name, name) == 0)
    return -EEXIST;
  struct list *new = list_prepend(*list, file);
  if (!new) {
    free(file);
    return -ENOMEM;
  }
  *list = new;
  return 0;
}
