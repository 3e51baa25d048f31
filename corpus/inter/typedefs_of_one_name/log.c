/* Whoever runs the modules frees the states themselves, as what they all begin with. */
#include <stdlib.h>
#include <string.h>

typedef struct {
    int id;
    char *format;
} state;

void *log_new(const char *format)
{
    state *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->format = strdup(format);
    return s;
}

void log_clear(void *data)
{
    state *s = data;
    free(s->format);
}
