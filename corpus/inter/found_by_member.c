// Structures on a list are found by their member; what frees their fields there is a destructor like any other.
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct link {
    struct link *next, *prev;
};

static struct link sinks_ok = {&sinks_ok, &sinks_ok};
static struct link sinks_bad = {&sinks_bad, &sinks_bad};

#define container(pointer, type, member) ((type *)((char *)(pointer) - offsetof(type, member)))
#define release(place)                                                                                                             \
    do {                                                                                                                           \
        __typeof__(place) where = (place);                                                                                         \
        free(*where);                                                                                                              \
        *where = NULL;                                                                                                             \
    } while (0)

static void append(struct link *list, struct link *l)
{
    l->prev = list->prev;
    l->next = list;
    list->prev->next = l;
    list->prev = l;
}

static void unlink_it(struct link *l)
{
    l->prev->next = l->next;
    l->next->prev = l->prev;
}

struct sink_ok {
    char *name;
    char *store;
    struct link link;
};

struct sink_ok *new_sink_ok(const char *name)
{
    struct sink_ok *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->name = strdup(name);
    if (!s->name) {
        // Nothing is stored yet.
        release(&s);
        return NULL;
    }
    append(&sinks_ok, &s->link);
    return s;
}

int keep_ok(struct sink_ok *s, const char *store)
{
    if (s->store)
        return -1;
    s->store = strdup(store);
    return s->store ? 0 : -1;
}

void clear_ok(void)
{
    while (sinks_ok.next != &sinks_ok) {
        struct sink_ok *s = container(sinks_ok.next, struct sink_ok, link);
        unlink_it(&s->link);
        release(&s->store);
        free(s->name);
        free(s);
    }
}

struct sink_bad {
    char *name;
    char *store;
    struct link link;
};

struct sink_bad *new_sink_bad(const char *name)
{
    struct sink_bad *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->name = strdup(name);
    if (!s->name) {
        release(&s);
        return NULL;
    }
    append(&sinks_bad, &s->link);
    return s;
}

int keep_bad(struct sink_bad *s, const char *store)
{
    if (s->store)
        return -1;
    s->store = strdup(store); // LEAK
    return s->store ? 0 : -1;
}

void clear_bad(void)
{
    while (sinks_bad.next != &sinks_bad) {
        struct sink_bad *s = container(sinks_bad.next, struct sink_bad, link);
        unlink_it(&s->link);
        free(s->name);
        free(s); // LOST
    }
}
