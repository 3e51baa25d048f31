#ifndef PLUGIN_H
#define PLUGIN_H
#include <stddef.h>
struct codec {
  const char *name;
  unsigned char *(*encode)(const char *in, size_t n);
  void (*destroy)(void *p);
};
const struct codec *find_codec(int id);
#endif
