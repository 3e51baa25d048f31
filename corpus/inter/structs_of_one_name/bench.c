#include <stdlib.h>
#include <string.h>

struct node {
    long requests;
    char *title;
};

struct node *bench_node(const char *title) {
    struct node *n = malloc(sizeof *n);
    if (!n)
        return NULL;
    n->requests = 0;
    n->title = strdup(title);
    return n;
}

void bench_node_free(struct node *n) {
    free(n->title);
    free(n);
}

// The nearest thing that does leak: the name is this structure's alone.
struct report {
    char *label;
    char *unit;
};

struct report *report_new(const char *label, const char *unit) {
    struct report *r = malloc(sizeof *r);
    if (!r)
        return NULL;
    r->label = strdup(label);
    r->unit = strdup(unit); // LEAK
    return r;
}

void report_free(struct report *r) {
    free(r->label);
    free(r);
}
