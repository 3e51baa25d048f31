// A block is returned, and beside it, through an argument, what was found. Whoever makes the block does not say that nothing was found: that a
// path takes the number to be zero, and loses the block only then, is a suspicion at most. Where the test makes no difference to the
// loss it speaks for nothing.

#include <stdlib.h>

struct kind {
    struct kind *next;
    const char *name;
    int bits;
};

struct list {
    int length;
    struct kind *items[8];
};

extern struct kind *kinds;

static int starts_with(const char *text, const char *key)
{
    while (*key != '\0')
        if (*text++ != *key++)
            return 0;
    return 1;
}

static struct list *collect(const char *key, int *found)
{
    struct list *list = NULL;
    struct kind *kind;

    *found = 0;
    for (kind = kinds; kind != NULL; kind = kind->next) {
        if (!starts_with(kind->name, key))
            continue;
        if (list == NULL) {
            list = malloc(sizeof *list);
            if (list == NULL)
                return NULL;
            list->length = 0;
        }
        list->items[list->length++ & 7] = kind;
        // No kind is without bits.
        *found |= kind->bits;
    }
    return list;
}

static void dispose(struct list *list)
{
    if (list)
        free(list);
}

int search_ok(const char *key, const char *other)
{
    struct list *list;
    int found, length = 0;

    list = collect(key, &found);
    if (found == 0)
        list = collect(other, &found);
    if (list)
        length = list->length;
    dispose(list);
    return length;
}

int search_bad(const char *key, int quick)
{
    struct list *list;
    int found, hits = 0;

    list = collect(key, &found); // LEAK
    if (list == NULL)
        return 0;
    if (found > 0)
        hits++;
    if (quick)
        return hits;
    hits += list->length;
    dispose(list);
    return hits;
}
