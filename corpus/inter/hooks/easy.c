/* Defines the hooks and the function that may replace them. */
#include "memdebug.h"
#include <stdlib.h>
#include <string.h>

malloc_callback hook_malloc = (malloc_callback)malloc;
free_callback hook_free = (free_callback)free;
strdup_callback hook_strdup = (strdup_callback)strdup;

int global_init_mem(malloc_callback m, free_callback f, strdup_callback s) {
  if (!m || !f || !s)
    return 2;
  hook_malloc = m;
  hook_free = f;
  hook_strdup = s;
  return 0;
}
