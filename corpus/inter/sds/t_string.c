/* Users of the strings in another file. */
#include "sds.h"
#include <string.h>

int echo_bad(const char *arg, int quiet) {
  sds s = sdsnew(arg); // LEAK
  if (!s)
    return -1;
  if (quiet)
    return 0;
  int n = (int)sdslen(s);
  sdsfree(s);
  return n;
}

int echo_ok(const char *arg, int quiet) {
  sds s = sdsnew(arg);
  if (!s)
    return -1;
  int n = quiet ? 0 : (int)sdslen(s);
  sdsfree(s);
  return n;
}

int append_bad(const char *a, const char *b) {
  sds s = sdsnew(a); // LEAK
  if (!s)
    return -1;
  sds t = sdscat(s, b);
  if (!t)
    return -1;
  sdsfree(t);
  return 0;
}

int append_ok(const char *a, const char *b) {
  sds s = sdsnew(a);
  if (!s)
    return -1;
  sds t = sdscat(s, b);
  if (!t) {
    sdsfree(s);
    return -1;
  }
  sdsfree(t);
  return 0;
}

int replaced_bad(const char *a) {
  sds s = sdsempty(); // LEAK
  if (!s)
    return -1;
  if (a[0])
    s = sdsnew(a); // LOST
  sdsfree(s);
  return 0;
}

int replaced_ok(const char *a) {
  sds s = sdsempty();
  if (!s)
    return -1;
  if (a[0]) {
    sdsfree(s);
    s = sdsnew(a);
  }
  sdsfree(s);
  return 0;
}
