/* More paths than anybody can try one by one. */
#include <stdlib.h>

int diamonds_bad(const int *a) {
  char *p = malloc(4); // LEAK
  int r = 0;
  if (!p)
    return 1;
  r += a[0] ? 1 : -1;
  if (a[1]) r += 2; else r -= 1;
  if (a[2]) r += 2; else r -= 1;
  if (a[3]) r += 2; else r -= 1;
  if (a[4]) r += 2; else r -= 1;
  if (a[5]) r += 2; else r -= 1;
  if (a[6]) r += 2; else r -= 1;
  if (a[7]) r += 2; else r -= 1;
  if (a[8]) r += 2; else r -= 1;
  if (a[9]) r += 2; else r -= 1;
  if (a[10]) r += 2; else r -= 1;
  if (a[90])
    return 3;
  free(p);
  return r;
}

int diamonds_ok(const int *a) {
  char *p = malloc(4);
  int r = 0;
  if (!p)
    return 1;
  if (a[1]) r += 2; else r -= 1;
  if (a[2]) r += 2; else r -= 1;
  if (a[3]) r += 2; else r -= 1;
  if (a[4]) r += 2; else r -= 1;
  if (a[5]) r += 2; else r -= 1;
  if (a[6]) r += 2; else r -= 1;
  if (a[7]) r += 2; else r -= 1;
  if (a[8]) r += 2; else r -= 1;
  if (a[9]) r += 2; else r -= 1;
  if (a[10]) r += 2; else r -= 1;
  free(p);
  return r;
}

int loops_bad(int n) {
  char *p = malloc(4); // LEAK
  if (!p)
    return 1;
  for (int i = 0; i < n; i++)
    p[i & 3] = 0;
  for (int i = 0; i < n; i++)
    p[i & 3] = 1;
  for (int i = 0; i < n; i++)
    p[i & 3] = 2;
  for (int i = 0; i < n; i++)
    p[i & 3] = 3;
  if (n > 3)
    return 2;
  free(p);
  return 0;
}

int loops_ok(int n) {
  char *p = malloc(4);
  if (!p)
    return 1;
  for (int i = 0; i < n; i++)
    p[i & 3] = 0;
  for (int i = 0; i < n; i++)
    p[i & 3] = 1;
  for (int i = 0; i < n; i++)
    p[i & 3] = 2;
  free(p);
  return 0;
}
