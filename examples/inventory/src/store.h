/* The items in stock, from lines of the form "name amount unit", e.g. "bolts 250 pcs". */
#ifndef STORE_H
#define STORE_H

#include <stdbool.h>

#include "list.h"

struct item {
    char *name;
    char *unit;
    long amount;
};

struct store {
    struct list items;
};

void store_init(struct store *store);

/* Adds one line; false if it is bad or there is no memory. */
bool store_add_line(struct store *store, const char *line);

/* A copy of the longest name, to be freed by the caller; NULL if there are no items. */
char *store_longest_name(const struct store *store);

void store_release(struct store *store);

#endif
