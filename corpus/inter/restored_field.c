// A field that holds something else for a while: whoever puts the old value back has seen to the new one. A destructor that leaves
// the field alone forgets nothing then.
#include <stdlib.h>
#include <string.h>

void use(const char *);

struct parser_ok {
    char *scratch;
    int depth;
};

struct parser_ok *new_parser_ok(void)
{
    struct parser_ok *p = malloc(sizeof *p);
    if (p) {
        p->scratch = NULL;
        p->depth = 0;
    }
    return p;
}

int nested_ok(struct parser_ok *p, const char *text)
{
    char *old = p->scratch;
    p->scratch = strdup(text);
    if (!p->scratch) {
        p->scratch = old;
        return -1;
    }
    p->depth++;
    use(p->scratch);
    free(p->scratch);
    p->scratch = old;
    return 0;
}

void free_parser_ok(struct parser_ok *p)
{
    free(p);
}

struct parser_bad {
    char *scratch;
    int depth;
};

struct parser_bad *new_parser_bad(void)
{
    struct parser_bad *p = malloc(sizeof *p);
    if (p) {
        p->scratch = NULL;
        p->depth = 0;
    }
    return p;
}

int nested_bad(struct parser_bad *p, const char *text)
{
    free(p->scratch);
    p->scratch = strdup(text); // LEAK
    if (!p->scratch)
        return -1;
    p->depth++;
    use(p->scratch);
    return 0;
}

void free_parser_bad(struct parser_bad *p)
{
    free(p); // LOST
}
