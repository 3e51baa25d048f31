/* Allocation for the whole program: counted, so that a test can see what is still held. */
#ifndef MEM_H
#define MEM_H

#include <stddef.h>

/* Zeroed memory, or NULL. */
void *mem_alloc(size_t size);

/* As realloc: on failure NULL, and the old block stays valid. */
void *mem_resize(void *block, size_t size);

/* A copy of text, or NULL. */
char *mem_dup(const char *text);

/* A copy of the first length bytes of text as a string, or NULL. */
char *mem_dup_part(const char *text, size_t length);

void mem_free(void *block);

/* Number of blocks that are held at the moment. */
long mem_held(void);

#endif
