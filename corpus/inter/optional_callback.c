// Containers with optional callbacks: whether a container copies or frees what it is given was decided when it was set up. What is
// kept without the callback is the container's with it, too; what neither keeps is still the caller's.
#include <stdlib.h>
#include <string.h>

struct type { void *(*dup)(const void *); void (*drop)(void *); };
struct entry { void *val; struct entry *next; };
struct table { struct type *type; struct entry *first; int full; };

static int table_add(struct table *t, void *val) {
    if (t->full)
        return -1;
    struct entry *e = malloc(sizeof *e);
    if (!e)
        abort();
    if (t->type->dup)
        e->val = t->type->dup(val);
    else
        e->val = val;
    e->next = t->first;
    t->first = e;
    return 0;
}

static void *copy(const void *s) {
    return strdup(s);
}

struct type copying = { copy, free };
struct type owning = { NULL, free };

int added_ok(struct table *t, const char *s) {
    char *p = strdup(s);
    if (!p)
        return -1;
    if (table_add(t, p) != 0) {
        free(p);
        return -1;
    }
    return 0;
}

int not_added_bad(struct table *t, const char *s) {
    char *p = strdup(s); // LEAK
    if (!p)
        return -1;
    return table_add(t, p);
}

static int table_count(struct table *t, void *val) {
    int n = 0;
    for (struct entry *e = t->first; e; e = e->next)
        n += e->val == val;
    if (t->type->drop)
        n++;
    return n;
}

int counted_ok(struct table *t, const char *s) {
    char *p = strdup(s);
    int n = p ? table_count(t, p) : 0;
    free(p);
    return n;
}

int counted_bad(struct table *t, const char *s) {
    char *p = strdup(s); // LEAK
    return p ? table_count(t, p) : 0;
}
