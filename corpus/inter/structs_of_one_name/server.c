// Two programs of one build have a structure of the same name each. What the destructor of the one leaves alone says nothing of the
// other's fields.
#include <stdlib.h>
#include <string.h>

struct node {
    char *name;
    int id;
};

struct node *server_node(const char *name, int id) {
    struct node *n = malloc(sizeof *n);
    if (!n)
        return NULL;
    n->name = strdup(name);
    n->id = id;
    return n;
}

void server_node_rename(struct node *n, const char *name) {
    free(n->name);
    n->name = strdup(name);
}

void server_node_free(struct node *n) {
    free(n->name);
    free(n);
}
