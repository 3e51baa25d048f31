/* A string buffer on the stack whose release looks at what it owns. */
#include <stdlib.h>
#include <string.h>

struct strbuf {
  size_t alloc, len;
  char *buf;
};

static char slop[1];
#define STRBUF_INIT {0, 0, slop}

static void strbuf_init(struct strbuf *sb) {
  sb->alloc = sb->len = 0;
  sb->buf = slop;
}

static void strbuf_release(struct strbuf *sb) {
  if (sb->alloc) {
    free(sb->buf);
    strbuf_init(sb);
  }
}

static void strbuf_reset(struct strbuf *sb) {
  sb->len = 0;
  if (sb->alloc)
    sb->buf[0] = '\0';
}

static void strbuf_addstr(struct strbuf *sb, const char *s) {
  size_t n = strlen(s);
  if (sb->len + n + 1 > sb->alloc) {
    size_t want = sb->len + n + 1;
    char *p = realloc(sb->alloc ? sb->buf : NULL, want);
    if (!p)
      abort();
    sb->buf = p;
    sb->alloc = want;
  }
  memcpy(sb->buf + sb->len, s, n + 1);
  sb->len += n;
}

static char *strbuf_detach(struct strbuf *sb) {
  char *r = sb->alloc ? sb->buf : NULL;
  strbuf_init(sb);
  return r;
}

int early_return_bad(const char *name) {
  struct strbuf sb = STRBUF_INIT;
  strbuf_addstr(&sb, name); // LEAK
  if (sb.len > 20)
    return -1;
  strbuf_release(&sb);
  return 0;
}

int early_return_ok(const char *name) {
  struct strbuf sb = STRBUF_INIT;
  strbuf_addstr(&sb, name);
  if (sb.len > 20) {
    strbuf_release(&sb);
    return -1;
  }
  strbuf_release(&sb);
  return 0;
}

size_t reset_is_no_release_bad(const char *name) {
  struct strbuf sb;
  strbuf_init(&sb);
  strbuf_addstr(&sb, name); // LEAK
  size_t n = sb.len;
  strbuf_reset(&sb);
  return n;
}

size_t reset_is_no_release_ok(const char *name) {
  struct strbuf sb;
  strbuf_init(&sb);
  strbuf_addstr(&sb, name);
  size_t n = sb.len;
  strbuf_reset(&sb);
  strbuf_release(&sb);
  return n;
}

int detached_bad(const char *name) {
  struct strbuf sb = STRBUF_INIT;
  strbuf_addstr(&sb, name); // LEAK
  char *s = strbuf_detach(&sb);
  strbuf_release(&sb);
  return s[0];
}

int detached_ok(const char *name) {
  struct strbuf sb = STRBUF_INIT;
  strbuf_addstr(&sb, name);
  char *s = strbuf_detach(&sb);
  strbuf_release(&sb);
  int c = s[0];
  free(s);
  return c;
}

int reinitialised_bad(const char *name) {
  struct strbuf sb = STRBUF_INIT;
  strbuf_addstr(&sb, name); // LEAK
  strbuf_init(&sb);         // LOST
  strbuf_release(&sb);
  return 0;
}

int reinitialised_ok(const char *name) {
  struct strbuf sb = STRBUF_INIT;
  strbuf_addstr(&sb, name);
  strbuf_release(&sb);
  strbuf_init(&sb);
  strbuf_release(&sb);
  return 0;
}
