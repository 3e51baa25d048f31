// A structure that begins with its link in a table: the last entry that leaves frees the table, and then itself. Who removes the entry
// has a second variable for the same address, of the link's type.
#include <stdlib.h>
#include <string.h>

struct table {
    void **buckets;
    unsigned count;
};

struct link {
    struct table *table;
    struct link *next, *prev;
};

struct entry {
    struct link link;
    char *name;
};

struct registry {
    struct entry *first;
};

void release(void *block)
{
    free(block);
}

int add(struct registry *r, const char *name)
{
    struct entry *e = calloc(1, sizeof *e);
    if (!e)
        return -1;
    e->name = strdup(name);
    if (!e->name) {
        release(e);
        return -1;
    }
    if (!r->first) {
        e->link.table = calloc(1, sizeof *e->link.table);
        if (!e->link.table) {
            release(e->name);
            release(e);
            return -1;
        }
    } else {
        e->link.table = r->first->link.table;
        e->link.next = &r->first->link;
        r->first->link.prev = &e->link;
    }
    r->first = e;
    return 0;
}

void drop(struct registry *r, struct entry *e)
{
    struct link *leaving = &e->link;
    if (!leaving->prev && !leaving->next) {
        release(r->first->link.table->buckets);
        release(r->first->link.table);
        r->first = NULL;
    } else {
        if (leaving == &r->first->link)
            r->first = (struct entry *)leaving->next;
        if (leaving->prev)
            leaving->prev->next = leaving->next;
        if (leaving->next)
            leaving->next->prev = leaving->prev;
    }
    release(e->name);
    release(e);
}

struct item {
    struct link link;
    char *text;
};

struct list {
    struct item *first;
};

int add_item(struct list *l, const char *text)
{
    struct item *i = calloc(1, sizeof *i); // LEAK
    if (!i)
        return -1;
    i->text = strdup(text);
    if (!i->text) {
        release(i);
        return -1;
    }
    if (l->first) {
        i->link.next = &l->first->link;
        l->first->link.prev = &i->link;
    }
    l->first = i;
    return 0;
}

void drop_item(struct list *l, struct item *i)
{
    struct link *leaving = &i->link;
    if (leaving == &l->first->link)
        l->first = (struct item *)leaving->next;
    if (leaving->prev)
        leaving->prev->next = leaving->next;
    if (leaving->next)
        leaving->next->prev = leaving->prev;
    release(i->text); // LOST
}
