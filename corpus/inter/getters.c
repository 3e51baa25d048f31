// Functions that read a field for their caller, through others that do.
#include <stdlib.h>

struct text {
    long length;
    char *bytes;
};

static char *bytes_of(struct text *text) { return text->bytes; }
static char *bytes_again(struct text *text) { return bytes_of(text); }

static char *take(struct text *text) {
    char *bytes = bytes_again(text);
    text->bytes = NULL;
    return bytes;
}

void looked_at_bad(long length) {
    struct text text = {length, malloc(16)}; // LEAK
    char *bytes = bytes_again(&text);
    if (bytes)
        bytes[0] = 1;
}

void looked_at_ok(long length) {
    struct text text = {length, malloc(16)};
    char *bytes = bytes_again(&text);
    free(bytes);
}

void taken_bad(long length) {
    struct text text = {length, malloc(16)}; // LEAK
    char *bytes = take(&text);
    if (bytes)
        bytes[0] = 1;
    free(text.bytes);
}

void taken_ok(long length) {
    struct text text = {length, malloc(16)};
    char *bytes = take(&text);
    free(text.bytes);
    free(bytes);
}

struct box {
    int kind;
    struct text *text;
};

static struct text *text_of(struct box *box) { return box->text; }
static struct text *text_again(struct box *box) { return text_of(box); }

void stored_behind_bad(struct text *text) {
    struct box box = {1, malloc(sizeof(struct text))};
    if (!box.text)
        return;
    text_again(&box)->bytes = malloc(16); // LEAK
    free(box.text); // LOST
}

void stored_behind_ok(struct text *text) {
    struct box box = {1, malloc(sizeof(struct text))};
    if (!box.text)
        return;
    text_again(&box)->bytes = malloc(16);
    free(box.text->bytes);
    free(box.text);
}
