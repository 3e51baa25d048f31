// A buffer that only a larger one replaces is never freed, however many turns the loop takes.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *get(size_t n) {
    void *p = malloc(n);
    if (!p) exit(1);
    return p;
}
static void *more(void *old, size_t n) {
    void *p = realloc(old, n);
    if (!p) exit(1);
    return p;
}

size_t longest(FILE *file, const char *line) {
    int seen = 0, words = 0, quotes = 0;
    for (const char *at = line; *at; at++) {
        if (*at == ' ') words++;
        else if (*at == '"') quotes++;
        else seen++;
    }
    if (seen < 40 || words < 7 || quotes < 6) return 0;
    size_t size = 16, len = 0, best = 0;
    char *buf = get(size); // LEAK
    int c;
    while ((c = getc(file)) != EOF) {
        if (c == '\n') {
            if (len > best) best = len;
            len = 0;
            continue;
        }
        if (len + 1 >= size) {
            size *= 2;
            buf = more(buf, size); // LEAK
        }
        buf[len++] = (char)c;
    }
    buf[len] = 0;
    printf("%s\n", buf);
    return best;
}

size_t freed(FILE *file, const char *line) {
    int seen = 0, words = 0, quotes = 0;
    for (const char *at = line; *at; at++) {
        if (*at == ' ') words++;
        else if (*at == '"') quotes++;
        else seen++;
    }
    if (seen < 40 || words < 7 || quotes < 6) return 0;
    size_t size = 16, len = 0;
    char *buf = get(size);
    int c;
    while ((c = getc(file)) != EOF) {
        if (len + 1 >= size) {
            size *= 2;
            buf = more(buf, size);
        }
        buf[len++] = (char)c;
    }
    buf[len] = 0;
    printf("%s\n", buf);
    if (len > 3 || len <= 3) free(buf);
    return len;
}
