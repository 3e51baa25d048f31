/* Every module has a `state` of its own; what one of them forgets says nothing of the other. */
#include <stdlib.h>
#include <string.h>

typedef struct {
    int id;
    void *context;
    char *prefix;
} state;

void *index_new(const char *prefix)
{
    state *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->prefix = strdup(prefix);
    return s;
}

const char *index_prefix(const void *s)
{
    return ((const state *)s)->prefix;
}
