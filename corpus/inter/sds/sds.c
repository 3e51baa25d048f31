/* Strings with a header before the first character. */
#include "sds.h"
#include <stdlib.h>
#include <string.h>

sds sdsnewlen(const void *init, size_t len) {
  struct sdshdr *sh = malloc(sizeof *sh + len + 1);
  if (sh == NULL)
    return NULL;
  sh->len = len;
  sh->avail = 0;
  if (len && init)
    memcpy(sh->buf, init, len);
  sh->buf[len] = '\0';
  return (char *)sh->buf;
}

sds sdsnew(const char *s) {
  return sdsnewlen(s, s ? strlen(s) : 0);
}

sds sdsempty(void) {
  return sdsnewlen("", 0);
}

void sdsfree(sds s) {
  if (s == NULL)
    return;
  free(s - offsetof(struct sdshdr, buf));
}

size_t sdslen(const sds s) {
  const struct sdshdr *sh = (const void *)(s - offsetof(struct sdshdr, buf));
  return sh->len;
}

sds sdscat(sds s, const char *t) {
  struct sdshdr *sh = (void *)(s - offsetof(struct sdshdr, buf));
  size_t add = strlen(t);
  struct sdshdr *nsh = realloc(sh, sizeof *sh + sh->len + add + 1);
  if (nsh == NULL)
    return NULL;
  memcpy(nsh->buf + nsh->len, t, add + 1);
  nsh->len += add;
  return nsh->buf;
}
