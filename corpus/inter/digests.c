// Digests and ciphers of a library fill the buffers that they are given, and keep none of them.
#include <stdlib.h>
#include <string.h>

typedef struct evp_md_st EVP_MD;
typedef struct engine_st ENGINE;
const EVP_MD *EVP_sha256(void);
int EVP_Digest(const void *data, size_t count, unsigned char *md, unsigned int *size, const EVP_MD *type, ENGINE *impl);
int RAND_bytes(unsigned char *buf, int num);

static int digest(const void *data, size_t len, unsigned char *out) {
  unsigned int n = 32;
  if (!EVP_Digest(data, len, out, &n, EVP_sha256(), NULL))
    return -1;
  return 0;
}

static int fingerprint(const char *key, unsigned char **result) {
  int r;
  unsigned char *raw = calloc(1, 32);
  *result = NULL;
  if (!raw)
    return -1;
  if ((r = digest(key, strlen(key), raw)) != 0)
    goto out;
  *result = raw;
  raw = NULL;
  r = 0;
out:
  free(raw);
  return r;
}

int first_bad(const char *key) {
  unsigned char *raw;
  if (fingerprint(key, &raw) != 0) // LEAK
    return -1;
  return raw[0];
}

int first_ok(const char *key) {
  unsigned char *raw;
  int first;
  if (fingerprint(key, &raw) != 0)
    return -1;
  first = raw[0];
  free(raw);
  return first;
}

int cookie_bad(void) {
  unsigned char *cookie = malloc(16); // LEAK
  if (!cookie)
    return -1;
  return RAND_bytes(cookie, 16) == 1 ? cookie[0] : -1;
}
