#include "mem.h"

#include <stdlib.h>
#include <string.h>

static long held;

void *mem_alloc(size_t size)
{
    void *block = calloc(1, size ? size : 1);
    if (block)
        held++;
    return block;
}

void *mem_resize(void *block, size_t size)
{
    void *resized = realloc(block, size ? size : 1);
    if (resized && !block)
        held++;
    return resized;
}

char *mem_dup_part(const char *text, size_t length)
{
    char *copy = mem_alloc(length + 1);
    if (copy)
        memcpy(copy, text, length);
    return copy;
}

char *mem_dup(const char *text)
{
    return mem_dup_part(text, strlen(text));
}

void mem_free(void *block)
{
    if (block)
        held--;
    free(block);
}

long mem_held(void)
{
    return held;
}
