/* Strings with a length. */
#include "asn1.h"
#include <string.h>

ASN1_STRING *ASN1_STRING_new(void) {
  ASN1_STRING *s = OPENSSL_malloc(sizeof(*s));
  if (s == NULL)
    return NULL;
  s->length = 0;
  s->data = NULL;
  return s;
}

int ASN1_STRING_set(ASN1_STRING *s, const void *d, int len) {
  unsigned char *c = OPENSSL_malloc((size_t)len + 1);
  if (c == NULL)
    return 0;
  memcpy(c, d, (size_t)len);
  c[len] = 0;
  OPENSSL_free(s->data);
  s->data = c;
  s->length = len;
  return 1;
}

void ASN1_STRING_free(ASN1_STRING *s) {
  if (s == NULL)
    return;
  OPENSSL_free(s->data);
  OPENSSL_free(s);
}
