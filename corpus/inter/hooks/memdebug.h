#ifndef MEMDEBUG_H
#define MEMDEBUG_H
#include <stddef.h>
typedef void *(*malloc_callback)(size_t);
typedef void (*free_callback)(void *);
typedef char *(*strdup_callback)(const char *);
extern malloc_callback hook_malloc;
extern free_callback hook_free;
extern strdup_callback hook_strdup;
#define h_malloc(n) hook_malloc(n)
#define h_free(p) hook_free(p)
#define h_strdup(s) hook_strdup(s)
#define Safefree(p)                                                                                                    \
  do {                                                                                                                 \
    h_free(p);                                                                                                         \
    (p) = NULL;                                                                                                        \
  } while (0)
int global_init_mem(malloc_callback m, free_callback f, strdup_callback s);
#endif
