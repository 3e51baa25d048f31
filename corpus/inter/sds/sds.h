#ifndef SDS_H
#define SDS_H
#include <stddef.h>
typedef char *sds;
struct sdshdr {
  size_t len;
  size_t avail;
  char buf[];
};
sds sdsnewlen(const void *init, size_t len);
sds sdsnew(const char *s);
sds sdsempty(void);
void sdsfree(sds s);
size_t sdslen(const sds s);
sds sdscat(sds s, const char *t);
#endif
