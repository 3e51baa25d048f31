// A program that brings its own allocator; inner functions are called under other names as well.
#include <stddef.h>

static char arena[65536];
static size_t used;
static void *free_list[8];

static void *inner_malloc(size_t n, const char *file, int line) {
  (void)file;
  (void)line;
  if (n < 64 && free_list[n / 8]) {
    void *block = free_list[n / 8];
    free_list[n / 8] = *(void **)block;
    return block;
  }
  if (used + n > sizeof arena)
    return NULL;
  void *block = arena + used;
  used += n;
  return block;
}

static void inner_free(void *block, const char *file, int line) {
  (void)file;
  (void)line;
  if (!block)
    return;
  *(void **)block = free_list[0];
  free_list[0] = block;
}

void *malloc(size_t n) {
  return inner_malloc(n, NULL, 0);
}

void free(void *block) {
  inner_free(block, NULL, 0);
}

void *traced_malloc(size_t n, const char *file, int line) {
  return inner_malloc(n, file, line);
}

void traced_free(void *block, const char *file, int line) {
  inner_free(block, file, line);
}
