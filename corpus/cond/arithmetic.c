/* Conditions related by arithmetic. */
#include <stdlib.h>

void implied_bad(int n) {
  char *p = NULL;
  if (n > 5)
    p = malloc(4); // LEAK
  if (n > 10)
    free(p);
}

void implied_ok(int n) {
  char *p = NULL;
  if (n > 10)
    p = malloc(4);
  if (n > 5)
    free(p);
}

void mirrored_bad(int a, int b) {
  char *p = NULL;
  if (a <= b)
    p = malloc(4); // LEAK
  if (b > a)
    free(p);
}

void mirrored_ok(int a, int b) {
  char *p = NULL;
  if (a < b)
    p = malloc(4);
  if (b > a)
    free(p);
}

void difference_bad(int a, int b) {
  char *p = NULL;
  int d = a - b;
  if (d)
    p = malloc(4); // LEAK
  if (a > b)
    free(p);
}

void difference_ok(int a, int b) {
  char *p = NULL;
  int d = a - b;
  if (d)
    p = malloc(4);
  if (a != b)
    free(p);
}

void scaled_bad(unsigned char n) {
  char *p = NULL;
  int bytes = n * 4;
  if (bytes >= 64)
    p = malloc(bytes); // LEAK
  if (n > 16)
    free(p);
}

void scaled_ok(unsigned char n) {
  char *p = NULL;
  int bytes = n * 4;
  if (bytes >= 64)
    p = malloc(bytes);
  if (n > 15)
    free(p);
}

void multiples_bad(unsigned n) {
  char *p = NULL;
  if (n % 4 == 0)
    p = malloc(4); // LEAK
  if (n % 8 == 0)
    free(p);
}

void multiples_ok(unsigned n) {
  char *p = NULL;
  if (n % 8 == 0)
    p = malloc(4);
  if (n % 4 == 0)
    free(p);
}

void range_bad(int n) {
  char *p = NULL;
  if (n >= 10 && n <= 20)
    p = malloc(4); // LEAK
  if (n < 10 || n > 12)
    free(p);
}

void range_ok(int n) {
  char *p = NULL;
  if (n >= 10 && n <= 20)
    p = malloc(4);
  if (!(n < 10) && n < 21)
    free(p);
}

void sum_bad(unsigned char a, unsigned char b) {
  char *p = NULL;
  int s = a + b;
  if (s > 200)
    p = malloc(4); // LEAK
  if (a > 100 || b > 101)
    free(p);
}

void sum_ok(unsigned char a, unsigned char b) {
  char *p = NULL;
  int s = a + b;
  if (s > 200)
    p = malloc(4);
  if (a > 100 || b > 99)
    free(p);
}

void minimum_bad(int a, int b) {
  char *p = NULL;
  int m = a < b ? a : b;
  if (m > 7)
    p = malloc(4); // LEAK
  if (a > 7 && b > 8)
    free(p);
}

void minimum_ok(int a, int b) {
  char *p = NULL;
  int m = a < b ? a : b;
  if (m > 7)
    p = malloc(4);
  if (a > 7 && b > 7)
    free(p);
}
