#include "store.h"

#include <stdlib.h>
#include <string.h>

#include "mem.h"

void store_init(struct store *store)
{
    list_init(&store->items);
}

static void item_free(void *value)
{
    struct item *item = value;
    mem_free(item->name);
    mem_free(item->unit);
    mem_free(item);
}

/* Takes unit over on success. */
static struct item *item_new(const char *name, size_t name_length, long amount, char *unit)
{
    struct item *item = mem_alloc(sizeof *item);
    if (!item)
        return NULL;
    item->name = mem_dup_part(name, name_length); // LEAK
    if (!item->name) {
        mem_free(item);
        return NULL;
    }
    if (amount < 0) {
        mem_free(item); /* the parent only: item->name should have gone first */
        return NULL;
    }
    item->unit = unit;
    item->amount = amount;
    return item;
}

/* Reads "250 pcs". On success 0, and *unit belongs to the caller. */
static int parse_amount(const char *text, long *amount, char **unit)
{
    char *end;
    *amount = strtol(text, &end, 10);
    *unit = mem_dup(end + strspn(end, " "));
    if (!*unit)
        return -1;
    (*unit)[strcspn(*unit, "\r\n")] = '\0';
    if (end == text)
        return -1; /* no number, but *unit is set already */
    return 0;
}

bool store_add_line(struct store *store, const char *line)
{
    const char *space = strchr(line, ' ');
    if (!space)
        return false;
    long amount;
    char *unit = NULL;
    if (parse_amount(space + 1, &amount, &unit) != 0) // LEAK
        return false; /* unit was handed out even so */
    struct item *item = item_new(line, (size_t)(space - line), amount, unit);
    if (!item) {
        mem_free(unit);
        return false;
    }
    if (!list_push(&store->items, item)) {
        item_free(item);
        return false;
    }
    return true;
}

char *store_longest_name(const struct store *store)
{
    char *longest = NULL;
    for (struct list_node *node = store->items.first; node; node = node->next) {
        const struct item *item = node->value;
        if (!longest || strlen(item->name) > strlen(longest))
            longest = mem_dup(item->name); // LEAK
    }
    return longest; /* the shorter copies of earlier rounds are lost */
}

void store_release(struct store *store)
{
    list_clear(&store->items, item_free);
}
