/* Uses whatever codec it gets. */
#include "plugin.h"
#include <string.h>

struct stage {
  const struct codec *codec;
  unsigned char *out;
};

int first_byte_bad(const struct codec *c, const char *s) {
  unsigned char *e = c->encode(s, strlen(s)); // LEAK
  if (!e)
    return -1;
  if (e[0] == 'q')
    return 0;
  c->destroy(e);
  return 1;
}

int first_byte_ok(const struct codec *c, const char *s) {
  unsigned char *e = c->encode(s, strlen(s));
  if (!e)
    return -1;
  int r = e[0] != 'q';
  c->destroy(e);
  return r;
}

int stage_bad(const char *s) {
  struct stage st = {find_codec(0), NULL};
  st.out = st.codec->encode(s, strlen(s)); // LEAK
  if (!st.out)
    return -1;
  st.out = NULL; // LOST
  return 0;
}

int stage_ok(const char *s) {
  struct stage st = {find_codec(0), NULL};
  st.out = st.codec->encode(s, strlen(s));
  if (!st.out)
    return -1;
  st.codec->destroy(st.out);
  st.out = NULL;
  return 0;
}
