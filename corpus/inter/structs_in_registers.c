// Small structs travel in registers: every field keeps its own block.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct entry {
  char *key;
  char *value;
};

static struct entry entry_new(const char *key, const char *value) {
  struct entry e;
  e.key = strdup(key);
  e.value = strdup(value);
  return e;
}

static void entry_free(struct entry e) {
  free(e.key);
  free(e.value);
}

static void entry_free_key(struct entry e) {
  free(e.key);
}

void second_field_bad(void) {
  struct entry e = entry_new("a", "b"); // LEAK
  free(e.key);
}

void both_fields_ok(void) {
  struct entry e = entry_new("a", "b");
  free(e.key);
  free(e.value);
}

void freed_by_value_bad(void) {
  struct entry e = entry_new("a", "b"); // LEAK
  entry_free_key(e);
}

void freed_by_value_ok(void) {
  struct entry e = entry_new("a", "b");
  entry_free(e);
}

static struct entry swapped(struct entry e) {
  struct entry other = {e.value, e.key};
  return other;
}

void swapped_bad(void) {
  struct entry e = entry_new("a", "b"); // LEAK
  struct entry other = swapped(e);
  free(other.key);
}

void swapped_ok(void) {
  struct entry e = entry_new("a", "b");
  struct entry other = swapped(e);
  free(other.key);
  free(other.value);
}

struct slice {
  char *bytes;
  size_t length;
};

static struct slice slice_new(size_t length) {
  struct slice s = {malloc(length), length};
  return s;
}

static struct slice joined(struct slice a, struct slice b) {
  return slice_new(a.length + b.length);
}

void joined_bad(void) {
  struct slice a = slice_new(3); // LEAK
  struct slice b = slice_new(4);
  struct slice c = joined(a, b);
  free(b.bytes);
  free(c.bytes);
}

void joined_ok(void) {
  struct slice a = slice_new(3);
  struct slice b = slice_new(4);
  struct slice c = joined(a, b);
  free(a.bytes);
  free(b.bytes);
  free(c.bytes);
}

struct shifted {
  char *text;
  char *rest;
};

static struct shifted split(const char *text) {
  struct shifted s;
  s.text = strdup(text);
  s.rest = s.text ? strchr(s.text, ' ') : NULL;
  return s;
}

void inner_pointer_bad(void) {
  struct shifted s = split("a b"); // LEAK
  if (s.rest)
    puts(s.rest);
}

void inner_pointer_ok(void) {
  struct shifted s = split("a b");
  if (s.rest)
    puts(s.rest);
  free(s.text);
}
