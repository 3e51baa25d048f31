/* What is lost where the program reads through a null pointer next, nobody misses. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static char *add(char *text, const char *more) {
  char *longer = realloc(text, strlen(text) + strlen(more) + 1);
  if (!longer)
    return NULL;
  return strcat(longer, more);
}

static int first(const char *text) {
  return text[0];
}

static void lower(char *text) {
  int n = first(text);
  if (n)
    text[0] = (char)tolower(n);
}

static void lower_if_any(char *text) {
  if (text)
    lower(text);
}

char *used_ok(const char *more) {
  char *text = strdup("a");
  if (!text)
    return NULL;
  text = add(text, more);
  lower(text);
  return text;
}

char *tested_bad(const char *more) {
  char *text = strdup("a"); // LEAK
  if (!text)
    return NULL;
  text = add(text, more); // LOST
  lower_if_any(text);
  return text;
}
