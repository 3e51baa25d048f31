// Lists that grow at their end: through a pointer to the last link, or after a walk to it. What is put there belongs to whoever owns the
// beginning, and a path that never comes to the loop that frees the elements loses all of them.
#include <stdlib.h>
#include <string.h>

struct node {
    struct node *next;
    int key;
};

static void remove_all(struct node *list) {
    while (list) {
        struct node *next = list->next;
        free(list);
        list = next;
    }
}

static struct node *made_in_order(int count) {
    struct node *first = NULL, **end = &first;
    for (int i = 0; i < count; i++) {
        struct node *node = calloc(1, sizeof *node);
        if (!node)
            abort();
        *end = node;
        end = &node->next;
    }
    return first;
}

int made_in_order_bad(int count, int error) {
    struct node *list = made_in_order(count); // LEAK
    if (error)
        return -1;
    remove_all(list);
    return 0;
}

int made_in_order_ok(int count, int error) {
    struct node *list = made_in_order(count);
    if (error) {
        remove_all(list);
        return -1;
    }
    remove_all(list);
    return 0;
}

static void append(struct node **link, int key) {
    while (*link)
        link = &(*link)->next;
    *link = calloc(1, sizeof **link);
    if (*link)
        (*link)->key = key;
}

int appended_bad(void) {
    struct node *list = NULL;
    append(&list, 1); // LEAK
    return 0;
}

int appended_ok(void) {
    struct node *list = NULL;
    append(&list, 1);
    append(&list, 2);
    remove_all(list);
    return 0;
}

int filled_bad(int count, int error) {
    char *names[8];
    if (count > 8)
        return -1;
    for (int i = 0; i < count; i++)
        names[i] = strdup("name"); // LEAK
    if (error)
        return -1;
    for (int i = 0; i < count; i++)
        free(names[i]);
    return 0;
}

int filled_ok(int count, int error) {
    char *names[8];
    if (count > 8)
        return -1;
    for (int i = 0; i < count; i++)
        names[i] = strdup("name");
    if (!error)
        names[0] = names[0];
    for (int i = 0; i < count; i++)
        free(names[i]);
    return 0;
}

// Whether the loop that frees is passed by says whether anything was put there.
int counted_ok(int count) {
    char *names[8];
    int used = 0;
    for (int i = 0; i < count && used < 8; i++)
        names[used++] = strdup("name");
    if (used > 0)
        for (int i = 0; i < used; i++)
            free(names[i]);
    return used;
}
