/* The buffer owns its block exactly when alloc is not zero. */
#include "strbuf.h"
#include <stdlib.h>
#include <string.h>

char strbuf_slopbuf[1];

void strbuf_init(struct strbuf *sb, size_t hint) {
  sb->alloc = sb->len = 0;
  sb->buf = strbuf_slopbuf;
  if (hint)
    strbuf_grow(sb, hint);
}

void strbuf_release(struct strbuf *sb) {
  if (sb->alloc) {
    free(sb->buf);
    strbuf_init(sb, 0);
  }
}

char *strbuf_detach(struct strbuf *sb, size_t *size) {
  char *res;
  strbuf_grow(sb, 0);
  res = sb->buf;
  if (size)
    *size = sb->len;
  strbuf_init(sb, 0);
  return res;
}

void strbuf_grow(struct strbuf *sb, size_t extra) {
  int new_buf = !sb->alloc;
  if (new_buf)
    sb->buf = NULL;
  if (sb->len + extra + 1 > sb->alloc) {
    sb->alloc = sb->len + extra + 1;
    sb->buf = xrealloc(sb->buf, sb->alloc);
  }
  if (new_buf)
    sb->buf[0] = '\0';
}

void strbuf_add(struct strbuf *sb, const void *data, size_t len) {
  strbuf_grow(sb, len);
  memcpy(sb->buf + sb->len, data, len);
  sb->len += len;
  sb->buf[sb->len] = '\0';
}
