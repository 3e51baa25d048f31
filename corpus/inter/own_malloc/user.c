#include <stddef.h>

void *traced_malloc(size_t n, const char *file, int line);
void traced_free(void *block, const char *file, int line);

int traced_ok(int n) {
  char *p = traced_malloc(10, __FILE__, __LINE__);
  if (!p)
    return -1;
  p[0] = (char)n;
  traced_free(p, __FILE__, __LINE__);
  return 0;
}

int traced_bad(int n) {
  char *p = traced_malloc(10, __FILE__, __LINE__); // LEAK
  if (!p)
    return -1;
  p[0] = (char)n;
  if (n > 3)
    return -2;
  traced_free(p, __FILE__, __LINE__);
  return 0;
}
