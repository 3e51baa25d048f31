// A callee that keeps what it makes unless its argument is null: whether a caller can lose the block depends on what everybody passes.
#include <stdlib.h>
#include <string.h>

struct options {
    char *realm;
    char *node;
    int flags;
};

struct server {
    int port;
    struct options *options;
};

static struct options *options_of(struct options **root)
{
    struct options *o;
    if (!root || !*root) {
        o = calloc(1, sizeof *o);
        if (!o)
            return NULL;
    } else
        o = *root;
    if (root && !*root)
        *root = o;
    return o;
}

// Only ever called with the address of a field.
static int set_node_ok(struct options **root, const char *name)
{
    struct options *o = options_of(root);
    if (!o)
        return -1;
    char *copy = strdup(name);
    if (!copy)
        return -1;
    free(o->node);
    o->node = copy;
    return 0;
}

int configure(struct server *s, const char *name)
{
    return set_node_ok(&s->options, name);
}

void stop(struct server *s)
{
    if (s->options) {
        free(s->options->node);
        free(s->options->realm);
        free(s->options);
        s->options = NULL;
    }
}

static int set_realm_bad(struct options **root, const char *name)
{
    struct options *o = options_of(root); // LEAK
    if (!o)
        return -1;
    char *copy = strdup(name);
    if (!copy)
        return -1;
    free(o->realm);
    o->realm = copy;
    return 0;
}

int configure_realm(struct server *s, const char *name)
{
    return set_realm_bad(&s->options, name);
}

int try_realm(const char *name)
{
    return set_realm_bad(NULL, name);
}

// Kept in the first argument, if there is one. Whoever calls has read through it.
struct archive {
    int format;
    struct converter *converters;
};

struct converter {
    struct converter *next;
    char *charset;
};

static struct converter *converter_of(struct archive *a, const char *charset)
{
    struct converter *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->charset = strdup(charset);
    if (!c->charset) {
        free(c);
        return NULL;
    }
    if (a) {
        c->next = a->converters;
        a->converters = c;
    }
    return c;
}

static int header_ok(struct archive *a, const char *text)
{
    struct converter *c = converter_of(a, "UTF-8");
    if (!c)
        return -1;
    return strcmp(text, c->charset);
}

int read_header(struct archive *a, const char *text)
{
    a->format = 1;
    return header_ok(a, text);
}

static int header_bad(struct archive *a, const char *text)
{
    struct converter *c = converter_of(a, "UTF-8"); // LEAK
    if (!c)
        return -1;
    return strcmp(text, c->charset);
}

int read_any_header(struct archive *a, const char *text)
{
    if (a)
        a->format = 2;
    return header_bad(a, text);
}
