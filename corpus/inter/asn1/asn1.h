#ifndef ASN1_H
#define ASN1_H
#include <stddef.h>
typedef struct asn1_string {
  int length;
  unsigned char *data;
} ASN1_STRING;
typedef struct stack_st {
  int num, max;
  void **data;
} STACK;
void *MEM_malloc(size_t n, const char *file, int line);
void MEM_free(void *p, const char *file, int line);
#define OPENSSL_malloc(n) MEM_malloc(n, __FILE__, __LINE__)
#define OPENSSL_free(p) MEM_free(p, __FILE__, __LINE__)
ASN1_STRING *ASN1_STRING_new(void);
int ASN1_STRING_set(ASN1_STRING *s, const void *d, int len);
void ASN1_STRING_free(ASN1_STRING *s);
STACK *sk_new(int max);
int sk_push(STACK *st, void *p);
void sk_free(STACK *st);
#endif
