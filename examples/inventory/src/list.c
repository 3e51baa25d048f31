#include "list.h"

#include "mem.h"

void list_init(struct list *list)
{
    list->first = NULL;
    list->length = 0;
}

bool list_push(struct list *list, void *value)
{
    struct list_node *node = mem_alloc(sizeof *node);
    if (!node)
        return false;
    node->value = value;
    node->next = list->first;
    list->first = node;
    list->length++;
    return true;
}

void list_clear(struct list *list, void (*release)(void *value))
{
    struct list_node *node = list->first;
    while (node) {
        struct list_node *next = node->next;
        release(node->value);
        mem_free(node);
        node = next;
    }
    list_init(list);
}
