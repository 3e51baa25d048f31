// Children that a recursion makes hang in a queue whose end points back into its owner: freeing the owner frees them.
#include <stdlib.h>

struct queue {
    struct cell *first;
    struct cell **last;
};
enum type { ROWS, COLUMNS, PANE };
struct cell {
    enum type type;
    struct cell *parent;
    struct queue cells;
    struct {
        struct cell *next;
        struct cell **prev;
    } entry;
};

static struct cell *new_cell(struct cell *parent) {
    struct cell *c = malloc(sizeof *c);
    if (!c) abort();
    c->type = PANE;
    c->parent = parent;
    c->cells.first = NULL;
    c->cells.last = &c->cells.first;
    return c;
}

static void free_cell(struct cell *c) {
    switch (c->type) {
    case ROWS:
    case COLUMNS:
        while (c->cells.first != NULL) {
            struct cell *child = c->cells.first;
            if (child->entry.next != NULL)
                child->entry.next->entry.prev = child->entry.prev;
            else
                c->cells.last = child->entry.prev;
            *child->entry.prev = child->entry.next;
            free_cell(child);
        }
        break;
    case PANE:
        break;
    }
    free(c);
}

static struct cell *parse(struct cell *parent, const char **text) {
    struct cell *c = new_cell(parent), *child;
    switch (**text) {
    case ',':
    case '}':
    case '\0':
        return c;
    case '{':
        c->type = ROWS;
        break;
    case '[':
        c->type = COLUMNS;
        break;
    default:
        goto fail;
    }
    do {
        (*text)++;
        child = parse(c, text);
        if (child == NULL)
            goto fail;
        child->entry.next = NULL;
        child->entry.prev = c->cells.last;
        *c->cells.last = child;
        c->cells.last = &child->entry.next;
    } while (**text == ',');
    if (c->type == ROWS ? **text != '}' : **text != ']')
        goto fail;
    (*text)++;
    return c;
fail:
    free_cell(c);
    return NULL;
}

int check(const char *text) {
    struct cell *all = parse(NULL, &text);
    if (all == NULL)
        return 1;
    free_cell(all);
    return 0;
}

int check_badly(const char *text) {
    struct cell *all = parse(NULL, &text); // LEAK
    return all == NULL;
}
