/* A count in the structure says whether there is a block: one side makes the first, the other one grows what is there. */
#include <stdlib.h>
#include <string.h>

struct item {
  int from, to;
};

struct buffer {
  struct item *pairs_ok;
  int used_ok, size_ok;
  struct item *pairs_bad;
  int used_bad, size_bad;
};

struct buffer *new_buffer(void) {
  return calloc(1, sizeof(struct buffer));
}

void free_buffer(struct buffer *buffer) {
  free(buffer->pairs_ok);
  free(buffer->pairs_bad);
  free(buffer);
}

void add_ok(struct buffer *b, int from, int to) {
  int i;
  for (i = 0; i < b->used_ok && (b->pairs_ok[i].from != from || b->pairs_ok[i].to != to); i++)
    ;
  if (i < b->used_ok)
    return;
  if (b->used_ok == b->size_ok) {
    if (b->size_ok == 0)
      b->pairs_ok = malloc(8 * sizeof *b->pairs_ok);
    else
      b->pairs_ok = realloc(b->pairs_ok, (b->size_ok + 8) * sizeof *b->pairs_ok);
    if (!b->pairs_ok)
      exit(1);
    b->size_ok += 8;
  }
  b->pairs_ok[b->used_ok].from = from;
  b->pairs_ok[b->used_ok].to = to;
  b->used_ok++;
}

void add_bad(struct buffer *b, int from, int to) {
  int i;
  for (i = 0; i < b->used_bad && (b->pairs_bad[i].from != from || b->pairs_bad[i].to != to); i++)
    ;
  if (i < b->used_bad)
    return;
  if (b->used_bad == b->size_bad) {
    b->pairs_bad = malloc((b->size_bad + 8) * sizeof *b->pairs_bad); // LEAK
    if (!b->pairs_bad)
      exit(1);
    b->size_bad += 8;
  }
  b->pairs_bad[b->used_bad].from = from;
  b->pairs_bad[b->used_bad].to = to;
  b->used_bad++;
}
