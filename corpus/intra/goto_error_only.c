/* The error label releases, the success path hands the block out; a second error path bypasses the label. */
#include <stdlib.h>
#include <string.h>

char *decode_bad(const char *in, size_t len) {
  char *out = malloc(len + 1); // LEAK
  if (!out)
    return NULL;
  for (size_t i = 0; i < len; i++) {
    if (in[i] == '%')
      goto err;
    if (in[i] == '\0')
      return NULL;
    out[i] = in[i];
  }
  out[len] = '\0';
  return out;
err:
  free(out);
  return NULL;
}

char *decode_ok(const char *in, size_t len) {
  char *out = malloc(len + 1);
  if (!out)
    return NULL;
  for (size_t i = 0; i < len; i++) {
    if (in[i] == '%')
      goto err;
    if (in[i] == '\0')
      goto err;
    out[i] = in[i];
  }
  out[len] = '\0';
  return out;
err:
  free(out);
  return NULL;
}

int backward_goto_bad(int tries) {
  char *page;
again:
  page = malloc(512); // LEAK // LOST
  if (!page)
    return -1;
  if (tries-- > 0)
    goto again;
  free(page);
  return 0;
}

int backward_goto_ok(int tries) {
  char *page;
again:
  page = malloc(512);
  if (!page)
    return -1;
  if (tries-- > 0) {
    free(page);
    goto again;
  }
  free(page);
  return 0;
}
