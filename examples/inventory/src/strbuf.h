/* A growing string. */
#ifndef STRBUF_H
#define STRBUF_H

#include <stdbool.h>
#include <stddef.h>

struct strbuf {
    char *data;
    size_t length;
    size_t capacity;
};

void strbuf_init(struct strbuf *sb);
bool strbuf_add(struct strbuf *sb, const char *text);
bool strbuf_add_number(struct strbuf *sb, long number);
void strbuf_release(struct strbuf *sb);

#endif
