// Without headers, for targets whose headers are not installed.
typedef __SIZE_TYPE__ size_t;
void *malloc(size_t);
void free(void *);

struct tree {
    struct tree *child[2];
    long double weight;
    __attribute__((aligned(32))) char key[40];
};

enum { LEFT, RIGHT };

extern struct tree *root;
static __thread unsigned visits;
typedef float vec __attribute__((vector_size(16)));

static int compare(const char *a, const char *b) {
    while (*a && *a == *b)
        a++, b++;
    return *a - *b;
}

struct tree *insert(struct tree **at, const char *key, long double weight) {
    while (*at) {
        int order = compare(key, (*at)->key);
        if (!order)
            return *at;
        at = &(*at)->child[order < 0 ? LEFT : RIGHT];
        ++visits;
    }
    struct tree *node = malloc(sizeof *node);
    if (!node)
        return 0;
    for (int i = 0; i < 39 && (node->key[i] = key[i]); i++)
        ;
    node->weight = weight * 2.0L;
    node->child[LEFT] = node->child[RIGHT] = 0;
    return *at = node;
}

vec scale(vec v, float f) {
    vec r = {f, f, f, f};
    return v * r + v;
}

long long clear(struct tree *t) {
    if (!t)
        return 0;
    long long count = 1 + clear(t->child[LEFT]) + clear(t->child[RIGHT]);
    __atomic_fetch_add(&visits, 1, __ATOMIC_SEQ_CST);
    free(t);
    return count;
}

int main(void) {
    insert(&root, "abc", 1.5L);
    return (int)clear(root);
}
