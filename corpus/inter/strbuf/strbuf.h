#ifndef STRBUF_H
#define STRBUF_H
#include <stddef.h>
struct strbuf {
  size_t alloc;
  size_t len;
  char *buf;
};
extern char strbuf_slopbuf[];
#define STRBUF_INIT                                                                                                    \
  { 0, 0, strbuf_slopbuf }
void strbuf_init(struct strbuf *sb, size_t hint);
void strbuf_release(struct strbuf *sb);
char *strbuf_detach(struct strbuf *sb, size_t *size);
void strbuf_grow(struct strbuf *sb, size_t extra);
void strbuf_add(struct strbuf *sb, const void *data, size_t len);
void *xrealloc(void *p, size_t n);
#endif
