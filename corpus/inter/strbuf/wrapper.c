/* Allocation that cannot fail. */
#include "strbuf.h"
#include <stdio.h>
#include <stdlib.h>

static void die_nomem(const char *who) {
  fprintf(stderr, "%s: out of memory\n", who);
  exit(128);
}

void *xrealloc(void *p, size_t n) {
  void *r = realloc(p, n ? n : 1);
  if (!r)
    die_nomem("xrealloc");
  return r;
}
