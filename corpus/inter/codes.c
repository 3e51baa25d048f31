// A negative number comes without a block, and a block of no bytes is nothing to mend.
#include <search.h>
#include <stdio.h>
#include <stdlib.h>

static char *read_text(FILE *file, int bytes, int *length)
{
    int n = 0;
    for (int i = 0; i < bytes; i++) {
        int c = getc(file);
        if (c == EOF) {
            *length = -1;
            return NULL;
        }
        n = (n << 8) + c;
    }
    *length = n;
    if (n == 0)
        return NULL;
    char *text = malloc(n + 1);
    if (!text)
        *length = -2;
    return text;
}

int section_ok(FILE *file)
{
    int length;
    char *text = read_text(file, 2, &length);
    if (length < 0)
        return length;
    free(text);
    return 0;
}

int section_bad(FILE *file)
{
    int length;
    char *text = read_text(file, 2, &length); // LEAK
    if (length > 100)
        return -1;
    free(text);
    return 0;
}

// Here a negative number may come with the block.
static char *find_text(FILE *file, int *place)
{
    char *text = malloc(10);
    if (!text) {
        *place = -1;
        return NULL;
    }
    if (!fgets(text, 10, file))
        *place = -2;
    else
        *place = 0;
    return text;
}

int place_bad(FILE *file)
{
    int place;
    char *text = find_text(file, &place); // LEAK
    if (place < 0)
        return place;
    free(text);
    return 0;
}

struct address {
    int *socket;
};

struct counts {
    unsigned a, b;
};

struct address *exported_ok(struct counts *c)
{
    unsigned n = c->a + c->b, i = 0;
    struct address *all = calloc(n, sizeof *all);
    if (!all)
        return NULL;
    int *sockets = calloc(n, sizeof *sockets);
    if (!sockets) {
        free(all);
        return NULL;
    }
    if (c->a)
        do
            all[i].socket = &sockets[i];
        while (++i < c->a);
    if (c->b)
        do
            all[i].socket = &sockets[i];
        while (++i < n);
    return all;
}

static void *root;
int compare(const void *, const void *);

int into_tree_ok(int key)
{
    int *copy = malloc(sizeof *copy);
    if (!copy)
        return -1;
    *copy = key;
    if (tsearch(copy, &root, compare))
        return 0;
    free(copy);
    return -1;
}

int into_tree_bad(int key)
{
    int *copy = malloc(sizeof *copy); // LEAK
    if (!copy)
        return -1;
    *copy = key;
    return tsearch(copy, &root, compare) ? 0 : -1;
}
