// Results that callers may leave out: to write through one does not say that the others are there.
#include <stdlib.h>
#include <string.h>

struct buf {
  const unsigned char *data;
  size_t len;
};

static int check(const struct buf *b) {
  if (b == NULL)
    return -4;
  if (b->data == NULL || b->len > 4096)
    return -5;
  return 0;
}

static int peek(struct buf *b, const unsigned char **value, size_t *len) {
  int r;
  if (value)
    *value = NULL;
  if (len)
    *len = 0;
  if ((r = check(b)) != 0)
    return r;
  if (b->len < 4)
    return -1;
  size_t n = b->data[3];
  if (n > b->len - 4)
    return -2;
  if (value)
    *value = b->data + 4;
  if (len)
    *len = n;
  return 0;
}

static int consume(struct buf *b, size_t n) {
  int r;
  if ((r = check(b)) != 0)
    return r;
  if (n > b->len)
    return -6;
  b->data += n;
  b->len -= n;
  return 0;
}

int get_string(struct buf *b, unsigned char **value, size_t *len) {
  const unsigned char *p;
  size_t n;
  int r;
  if (value)
    *value = NULL;
  if (len)
    *len = 0;
  if ((r = peek(b, &p, &n)) != 0)
    return r;
  if (value) {
    if ((*value = malloc(n + 1)) == NULL)
      return -3;
    memcpy(*value, p, n);
    (*value)[n] = 0;
  }
  if (len)
    *len = n;
  if ((r = consume(b, n + 4)) != 0)
    abort();
  return 0;
}

int get_cstring(struct buf *b, char **value, size_t *len) {
  const unsigned char *p, *z;
  size_t n;
  int r;
  if (value)
    *value = NULL;
  if (len)
    *len = 0;
  if ((r = peek(b, &p, &n)) != 0)
    return r;
  if (n > 0 && (z = memchr(p, 0, n)) != NULL && z < p + n - 1)
    return -7;
  if ((r = get_string(b, NULL, NULL)) != 0)
    return -8;
  if (value) {
    if ((*value = malloc(n + 1)) == NULL)
      return -3;
    if (n != 0)
      memcpy(*value, p, n);
    (*value)[n] = 0;
  }
  if (len)
    *len = n;
  return 0;
}

struct peer {
  struct buf *incoming;
};

int peer_string(struct peer *peer, unsigned char **value, size_t *len) {
  return get_string(peer->incoming, value, len);
}

int peer_cstring(struct peer *peer, char **value, size_t *len) {
  return get_cstring(peer->incoming, value, len);
}

int read_pairs_bad(struct peer *peer) {
  char *name;
  unsigned char *value;
  size_t len;
  int r;
  if ((r = peer_cstring(peer, &name, NULL)) != 0) // LEAK
    return r;
  if ((r = peer_string(peer, &value, &len)) != 0) // LEAK
    return r;
  if (memchr(value, 0, len))
    return -9;
  free(name);
  free(value);
  return 0;
}

int read_pairs_ok(struct peer *peer) {
  char *name;
  unsigned char *value;
  size_t len;
  int r;
  if ((r = peer_cstring(peer, &name, NULL)) != 0)
    return r;
  if ((r = peer_string(peer, &value, &len)) != 0) {
    free(name);
    return r;
  }
  r = memchr(value, 0, len) ? -9 : 0;
  free(name);
  free(value);
  return r;
}

int skip_ok(struct peer *peer) {
  size_t len;
  int r = peer_string(peer, NULL, &len);
  return r ? r : (int)len;
}
