/* Users: each error path has to release what the step before it made. */
#include "asn1.h"
#include <string.h>

ASN1_STRING *name_to_asn1_bad(const char *name) {
  ASN1_STRING *s = ASN1_STRING_new(); // LEAK
  if (s == NULL)
    return NULL;
  if (!ASN1_STRING_set(s, name, (int)strlen(name)))
    return NULL;
  return s;
}

ASN1_STRING *name_to_asn1_ok(const char *name) {
  ASN1_STRING *s = ASN1_STRING_new();
  if (s == NULL)
    return NULL;
  if (!ASN1_STRING_set(s, name, (int)strlen(name))) {
    ASN1_STRING_free(s);
    return NULL;
  }
  return s;
}

int add_empty_bad(STACK *names) {
  ASN1_STRING *s = ASN1_STRING_new(); // LEAK
  if (s == NULL)
    return 0;
  if (!sk_push(names, s))
    return 0;
  return 1;
}

int add_empty_ok(STACK *names) {
  ASN1_STRING *s = ASN1_STRING_new();
  if (s == NULL)
    return 0;
  if (!sk_push(names, s)) {
    ASN1_STRING_free(s);
    return 0;
  }
  return 1;
}

int plain_free_bad(const char *name) {
  ASN1_STRING *s = ASN1_STRING_new();
  int ok;
  if (s == NULL)
    return 0;
  ok = ASN1_STRING_set(s, name, (int)strlen(name)); // LEAK
  OPENSSL_free(s); // LOST
  return ok;
}

int plain_free_ok(const char *name) {
  ASN1_STRING *s = ASN1_STRING_new();
  int ok;
  if (s == NULL)
    return 0;
  ok = ASN1_STRING_set(s, name, (int)strlen(name));
  ASN1_STRING_free(s);
  return ok;
}
