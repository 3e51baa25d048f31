/* Commands that use the buffers of the other files. */
#include "strbuf.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int branch_name_bad(const char *ref) {
  struct strbuf name = STRBUF_INIT;
  strbuf_add(&name, ref, strlen(ref)); // LEAK
  if (name.buf[0] == '-')
    return -1;
  puts(name.buf);
  strbuf_release(&name);
  return 0;
}

int branch_name_ok(const char *ref) {
  struct strbuf name = STRBUF_INIT;
  int ret = 0;
  strbuf_add(&name, ref, strlen(ref));
  if (name.buf[0] == '-')
    ret = -1;
  else
    puts(name.buf);
  strbuf_release(&name);
  return ret;
}

int with_hint_bad(size_t n) {
  struct strbuf sb;
  strbuf_init(&sb, n + 10); // LEAK
  if (n == 7)
    return 1;
  strbuf_release(&sb);
  return 0;
}

int with_hint_ok(size_t n) {
  struct strbuf sb;
  if (n == 7)
    return 1;
  strbuf_init(&sb, n + 10);
  strbuf_release(&sb);
  return 0;
}

char *handed_out_bad(const char *s) {
  struct strbuf sb = STRBUF_INIT;
  size_t len;
  strbuf_add(&sb, s, strlen(s)); // LEAK
  char *r = strbuf_detach(&sb, &len);
  if (len == 0)
    return NULL;
  return r;
}

char *handed_out_ok(const char *s) {
  struct strbuf sb = STRBUF_INIT;
  size_t len;
  strbuf_add(&sb, s, strlen(s));
  char *r = strbuf_detach(&sb, &len);
  if (len == 0) {
    free(r);
    return NULL;
  }
  return r;
}
