/* Goto clean-up over calls of the project's own constructors. */
#include <stdlib.h>
#include <string.h>

struct key {
  unsigned char *mat;
  size_t len;
};

static int key_init(struct key *k, size_t len) {
  k->mat = calloc(1, len);
  k->len = len;
  return k->mat ? 1 : 0;
}

static void key_wipe(struct key *k) {
  if (k->mat)
    memset(k->mat, 0, k->len);
  free(k->mat);
  k->mat = NULL;
}

static int derive(struct key *out, const struct key *in) {
  if (out->len < in->len)
    return 0;
  memcpy(out->mat, in->mat, in->len);
  return 1;
}

int rekey_bad(size_t n) {
  int ret = 0;
  struct key a = {NULL, 0}, b = {NULL, 0};
  if (!key_init(&a, n)) // LEAK
    goto err;
  if (!key_init(&b, n + 8))
    goto err;
  if (!derive(&b, &a))
    goto err;
  ret = 1;
err:
  key_wipe(&b);
  return ret;
}

int rekey_ok(size_t n) {
  int ret = 0;
  struct key a = {NULL, 0}, b = {NULL, 0};
  if (!key_init(&a, n))
    goto err;
  if (!key_init(&b, n + 8))
    goto err;
  if (!derive(&b, &a))
    goto err;
  ret = 1;
err:
  key_wipe(&b);
  key_wipe(&a);
  return ret;
}

int staged_bad(const char *s) {
  char *one = NULL, *two = NULL;
  int rc = -1;
  one = strdup(s); // LEAK
  if (one == NULL)
    goto end;
  two = strdup(s);
  if (two == NULL)
    goto end;
  if (one[0] != '/')
    goto free_two;
  rc = 0;
  free(one);
free_two:
  free(two);
end:
  return rc;
}

int staged_ok(const char *s) {
  char *one = NULL, *two = NULL;
  int rc = -1;
  one = strdup(s);
  if (one == NULL)
    goto end;
  two = strdup(s);
  if (two == NULL)
    goto free_one;
  if (one[0] != '/')
    goto free_two;
  rc = 0;
free_two:
  free(two);
free_one:
  free(one);
end:
  return rc;
}
