// Two kinds of structures have the same part; only one of them ever fills it.
#include <stdlib.h>
#include <string.h>

struct part {
  char *name;
  int kind;
};

struct letter {
  struct letter *next;
  struct part part;
};

struct tunnel {
  struct part part;
  int state;
};

struct channel {
  struct letter *letters;
  void *context;
};

void part_name(struct part *part, const char *name) {
  free(part->name);
  part->name = strdup(name);
}

int letter_add(struct channel *channel, const char *name) {
  struct letter *letter = calloc(1, sizeof *letter);
  if (!letter)
    return -1;
  part_name(&letter->part, name);
  letter->next = channel->letters;
  channel->letters = letter;
  return 0;
}

void letters_free(struct channel *channel) {
  struct letter *letter;
  while ((letter = channel->letters)) {
    channel->letters = letter->next;
    free(letter->part.name);
    free(letter);
  }
}

int tunnel_open(struct channel *channel) {
  struct tunnel *tunnel = calloc(1, sizeof *tunnel);
  if (!tunnel)
    return -1;
  tunnel->part.kind = 3;
  channel->context = tunnel;
  return 0;
}

void tunnel_close(struct channel *channel) {
  struct tunnel *tunnel = channel->context;
  if (tunnel) {
    tunnel->state = 0;
    free(tunnel);
    channel->context = NULL;
  }
}
