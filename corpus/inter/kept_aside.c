// The old pointer is kept in a variable while another block is put in its place, and then forgotten.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct table {
    int *rows;
    int size;
};

void table_free(struct table *table) {
    free(table->rows);
    table->rows = NULL;
    table->size = 0;
}

struct table *table_new(void) {
    struct table *table = malloc(sizeof(*table));
    if (!table)
        return NULL;
    table->size = 8;
    table->rows = calloc(8, sizeof(int)); // LEAK
    return table;
}

// Somebody may empty tables when something is logged, as far as one call can tell from another.
static struct table *spare;

static void note(const char *text) {
    if (spare && !text)
        table_free(spare);
    puts(text);
}

void spare_set(struct table *table) { spare = table; }

int grow_bad(struct table *table) {
    int *old = table->rows;
    int size = table->size;
    note("growing");
    int *rows = calloc(2 * size, sizeof(int));
    if (!rows)
        return -1;
    table->rows = rows;
    table->size = 2 * size;
    for (int i = 0; i < size; i++)
        table->rows[2 * i] = old[i];
    return 0;
}

int set_ok(struct table *table) {
    int *rows = table->rows;
    if (!rows) {
        note("first");
        rows = table->rows = calloc(8, sizeof(int));
    }
    return rows ? rows[0] : -1;
}
