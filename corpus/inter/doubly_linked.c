// A list with a head and a tail: whether there is a last element decides where the new one is kept. Both ways have to be told.
#include <stdlib.h>

struct item {
    int value;
    struct item *before, *after;
};
struct list {
    struct item *first, *last;
};

static void push(struct list *list, int value) {
    struct item *item = malloc(sizeof *item);
    if (!item)
        abort();
    item->value = value;
    item->before = item->after = NULL;
    if (list->last) {
        list->last->after = item;
        item->before = list->last;
    } else {
        list->first = item;
    }
    list->last = item;
}

static void clear(struct list *list) {
    struct item *item = list->first;
    while (item) {
        struct item *after = item->after;
        free(item);
        item = after;
    }
    list->first = list->last = NULL;
}

int clear_ok(void) {
    struct list list = {0};
    push(&list, 1);
    push(&list, 2);
    clear(&list);
    return 0;
}

int early_return_bad(int error) {
    struct list list = {0};
    push(&list, 1); // LEAK
    if (error)
        return -1;
    clear(&list);
    return 0;
}
