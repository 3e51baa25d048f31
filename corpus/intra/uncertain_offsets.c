/* A structure that is also accessed at an offset nobody knows, and a long function of which most has nothing to do with the block: what
   is seen of the few places that have must be the same as if every statement had been looked at. */
#include <stdlib.h>

struct reader {
  char *buffer;
  int position, length;
  char rest[64];
};

static int last_position;
int next_byte(void);
void report(int n);

static int fill(struct reader *r, int n) {
  r->buffer = malloc((size_t)n);
  if (!r->buffer)
    return -1;
  r->length = n;
  return 0;
}

int read_ok(struct reader *r, int n) {
  if (fill(r, n) < 0)
    return -1;
  for (int i = 0; i < n; i++)
    ((char *)r)[next_byte()] = 0;
  if (n > 1)
    report(1);
  if (n > 2)
    report(2);
  if (n > 3)
    report(3);
  if (n > 4)
    report(4);
  if (n > 5)
    report(5);
  if (n > 6)
    report(6);
  if (n > 7)
    report(7);
  last_position = r->position;
  return 0;
}

int read_bad(int n) {
  char *line = malloc((size_t)n); // LEAK D002
  int first = 0;
  if (!line)
    return -1;
  if (n > 1)
    report(1);
  if (n > 2)
    report(2);
  if (n > 3)
    report(3);
  if (n > 4)
    report(4);
  if (n > 5)
    report(5);
  line[0] = (char)next_byte();
  first = line[0];
  if (first < 0)
    return -1;
  if (n > 6)
    report(6);
  if (n > 7)
    report(7);
  free(line);
  return first;
}
