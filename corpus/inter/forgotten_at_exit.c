// What the code says of itself: a branch of which one way frees the block and the other one loses it. Where what decides there is news, both ways can
// be taken, and who frees the block on the one holds it on the other as well, whatever callees may have done with it before.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct journal {
    int open;
    char *last;
};

// Keeps the text or not, and nobody is told.
static void remember(struct journal *journal, char *text) {
    if (journal->open && !journal->last)
        journal->last = text;
}

int move_bad(struct journal *journal, const char *from, const char *to) {
    char *name = strdup(from); // LEAK
    if (!name)
        return -1;
    remember(journal, name);
    if (rename(name, to) != 0)
        return -1;
    free(name);
    return 0;
}

int move_ok(struct journal *journal, const char *from, const char *to) {
    char *name = strdup(from);
    if (!name)
        return -1;
    remember(journal, name);
    if (rename(name, to) != 0) {
        free(name);
        return -1;
    }
    free(name);
    return 0;
}

// On the other side it is freed only if nobody has kept it: the block may be somebody's on either.
int move_kept_ok(struct journal *journal, const char *from, const char *to) {
    char *name = strdup(from);
    if (!name)
        return -1;
    remember(journal, name);
    if (rename(name, to) != 0)
        return -1;
    if (journal->last != name)
        free(name);
    return 0;
}

// What decides is no news: it says whether the text was kept.
int note_ok(struct journal *journal, const char *from) {
    char *name = strdup(from);
    if (!name)
        return -1;
    remember(journal, name);
    if (journal->open)
        return 0;
    free(name);
    return 0;
}

// Keeps the text and says so.
static int take(struct journal *journal, char *text) {
    if (!journal->open)
        return 0;
    remember(journal, text);
    return 1;
}

int hand_over_ok(struct journal *journal, const char *from) {
    char *name = strdup(from);
    if (!name)
        return -1;
    if (take(journal, name))
        return 0;
    free(name);
    return 0;
}
