/* The two outcomes of an allocation; tests of its result in several spellings, some of them inverted. */
#include <stdlib.h>

int bang_bad(size_t n) {
  char *p = malloc(n); // LEAK
  if (!!p)
    return 1;
  free(p);
  return 0;
}

int bang_ok(size_t n) {
  char *p = malloc(n);
  if (!p)
    return 1;
  free(p);
  return 0;
}

int equals_null_bad(size_t n) {
  char *p = malloc(n); // LEAK
  if (p != NULL)
    return 1;
  free(p);
  return 0;
}

int equals_null_ok(size_t n) {
  char *p = malloc(n);
  if (p == NULL)
    return 1;
  free(p);
  return 0;
}

int yoda_bad(size_t n) {
  char *p = malloc(n); // LEAK
  if (NULL != p)
    return 1;
  free(p);
  return 0;
}

int yoda_ok(size_t n) {
  char *p = malloc(n);
  if (NULL == p)
    return 1;
  free(p);
  return 0;
}

int zero_literal_bad(size_t n) {
  char *p = malloc(n); // LEAK
  if (0 != p)
    return 1;
  free(p);
  return 0;
}

int zero_literal_ok(size_t n) {
  char *p = malloc(n);
  if (0 == p)
    return 1;
  free(p);
  return 0;
}

int assigned_in_test_bad(size_t n) {
  char *p;
  if ((p = malloc(n)) != NULL) // LEAK
    return 1;
  free(p);
  return 0;
}

int assigned_in_test_ok(size_t n) {
  char *p;
  if ((p = malloc(n)) == NULL)
    return 1;
  free(p);
  return 0;
}
