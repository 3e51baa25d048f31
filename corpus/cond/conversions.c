/* Truth values, casts, truncation and unsigned arithmetic that wraps. */
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>

void double_negation_bad(int x) {
  char *p = NULL;
  int on = !!x;
  if (on == 1)
    p = malloc(4); // LEAK
  if (x == 1)
    free(p);
}

void double_negation_ok(int x) {
  char *p = NULL;
  int on = !!x;
  if (on == 1)
    p = malloc(4);
  if (x != 0)
    free(p);
}

void compared_truth_bad(int a, int b) {
  char *p = NULL;
  if ((a > 0) == (b > 0))
    p = malloc(4); // LEAK
  if (a > 0 && b > 0)
    free(p);
}

void compared_truth_ok(int a, int b) {
  char *p = NULL;
  if ((a > 0) == (b > 0))
    p = malloc(4);
  if ((a > 0 && b > 0) || (a <= 0 && b <= 0))
    free(p);
}

void wrapped_range_bad(unsigned n) {
  char *p = NULL;
  if (n - 1 < 10)
    p = malloc(4); // LEAK
  if (n >= 1 && n <= 9)
    free(p);
}

void wrapped_range_ok(unsigned n) {
  char *p = NULL;
  if (n - 1 < 10)
    p = malloc(4);
  if (n >= 1 && n <= 10)
    free(p);
}

void last_value_bad(unsigned n) {
  char *p = NULL;
  if (n + 1 < 2)
    p = malloc(4); // LEAK
  if (n == 0)
    free(p);
}

void last_value_ok(unsigned n) {
  char *p = NULL;
  if (n + 1 < 2)
    p = malloc(4);
  if (n == 0 || n == UINT_MAX)
    free(p);
}

void overflow_check_bad(uint32_t n) {
  char *p = NULL;
  uint32_t bytes = n * 8;
  if (bytes / 8 == n)
    p = malloc(4); // LEAK
  if (n < 0x10000000u)
    free(p);
}

void overflow_check_ok(uint32_t n) {
  char *p = NULL;
  uint32_t bytes = n * 8;
  if (bytes / 8 == n)
    p = malloc(4);
  if (n < 0x20000000u)
    free(p);
}

void truncated_bad(int c) {
  char *p = NULL;
  unsigned char b = (unsigned char)c;
  if (b == 200)
    p = malloc(4); // LEAK
  if (c == 200)
    free(p);
}

void truncated_ok(int c) {
  char *p = NULL;
  unsigned char b = (unsigned char)c;
  if (c == 200)
    p = malloc(4);
  if (b == 200)
    free(p);
}

void sign_extended_bad(signed char c) {
  char *p = NULL;
  unsigned u = (unsigned)c;
  if (u > 127)
    p = malloc(4); // LEAK
  if (c < -1)
    free(p);
}

void sign_extended_ok(signed char c) {
  char *p = NULL;
  unsigned u = (unsigned)c;
  if (u > 127)
    p = malloc(4);
  if (c < 0)
    free(p);
}

void threshold_bad(double x) {
  char *p = NULL;
  if (x > 0.5)
    p = malloc(4); // LEAK
  if (x > 0.75)
    free(p);
}

void threshold_ok(double x) {
  char *p = NULL;
  if (x > 0.75)
    p = malloc(4);
  if (x > 0.75)
    free(p);
}
