/* A singly linked list of pointers that it doesn't own. */
#ifndef LIST_H
#define LIST_H

#include <stdbool.h>
#include <stddef.h>

struct list_node {
    void *value;
    struct list_node *next;
};

struct list {
    struct list_node *first;
    size_t length;
};

void list_init(struct list *list);

/* False if there was no memory; the value then still belongs to the caller. */
bool list_push(struct list *list, void *value);

/* Frees the nodes, and the values by release. */
void list_clear(struct list *list, void (*release)(void *value));

#endif
