// The same belief where blocks are counted: a branch of which one way gives up a reference, and the other one forgets it. Whether that was the
// last reference only the block knows; who gives it up on the one way held it on the other as well.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct text {
    int refs;
    char bytes[64];
};

struct journal {
    int open;
    struct text *last;
};

static struct text *text_new(const char *from) {
    struct text *text = malloc(sizeof(*text));
    if (!text)
        return NULL;
    text->refs = 1;
    strncpy(text->bytes, from, sizeof(text->bytes));
    return text;
}

static void text_free(struct text *text) {
    if (!text)
        return;
    text->refs--;
    if (text->refs > 0)
        return;
    free(text);
}

static void remember(struct journal *journal, struct text *text) {
    if (journal->open && !journal->last) {
        text->refs++;
        journal->last = text;
    }
}

int move_bad(struct journal *journal, const char *from, const char *to) {
    struct text *name = text_new(from); // LEAK
    if (!name)
        return -1;
    remember(journal, name);
    if (rename(name->bytes, to) != 0)
        return -1;
    text_free(name);
    return 0;
}

int move_ok(struct journal *journal, const char *from, const char *to) {
    struct text *name = text_new(from);
    if (!name)
        return -1;
    remember(journal, name);
    if (rename(name->bytes, to) != 0) {
        text_free(name);
        return -1;
    }
    text_free(name);
    return 0;
}
