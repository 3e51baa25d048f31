#include "strbuf.h"

#include <stdio.h>
#include <string.h>

#include "mem.h"

void strbuf_init(struct strbuf *sb)
{
    sb->data = NULL;
    sb->length = 0;
    sb->capacity = 0;
}

static bool make_room(struct strbuf *sb, size_t extra)
{
    size_t needed = sb->length + extra + 1;
    if (needed <= sb->capacity)
        return true;
    size_t capacity = sb->capacity ? sb->capacity : 16;
    while (capacity < needed)
        capacity *= 2;
    char *data = mem_resize(sb->data, capacity);
    if (!data)
        return false;
    sb->data = data;
    sb->capacity = capacity;
    return true;
}

bool strbuf_add(struct strbuf *sb, const char *text)
{
    size_t length = strlen(text);
    if (!make_room(sb, length))
        return false;
    memcpy(sb->data + sb->length, text, length + 1);
    sb->length += length;
    return true;
}

bool strbuf_add_number(struct strbuf *sb, long number)
{
    char digits[32];
    snprintf(digits, sizeof digits, "%ld", number);
    return strbuf_add(sb, digits);
}

void strbuf_release(struct strbuf *sb)
{
    mem_free(sb->data);
    strbuf_init(sb);
}
