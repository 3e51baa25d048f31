/* Functions that fail and undo only a part of what they have put into a structure of their caller's. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int start_engine(int level);

struct stream {
  char *in, *out;
  int size;
};

/* Two failures of the same result: after one of them the buffer is freed, after the other one it is not. */
int stream_open_bad(struct stream *s) {
  s->in = malloc(512); // LEAK D002
  if (!s->in)
    return -1;
  if (start_engine(1) != 0)
    return -1; // LOST
  s->out = malloc(512);
  if (!s->out) {
    free(s->in);
    return -1;
  }
  s->size = 512;
  return 0;
}

void stream_close_bad(struct stream *s) {
  if (s->size) {
    free(s->in);
    free(s->out);
  }
  free(s);
}

struct channel {
  char *in, *out;
  int size;
};

int channel_open_ok(struct channel *s) {
  s->in = malloc(512);
  if (!s->in)
    return -1;
  if (start_engine(1) != 0) {
    free(s->in);
    return -1;
  }
  s->out = malloc(512);
  if (!s->out) {
    free(s->in);
    return -1;
  }
  s->size = 512;
  return 0;
}

void channel_close_ok(struct channel *s) {
  if (s->size) {
    free(s->in);
    free(s->out);
  }
  free(s);
}

/* One failure that frees one of two buffers. */
struct pipe {
  char *in, *out;
  int size;
};

int pipe_open_bad(struct pipe *s) {
  s->in = malloc(512);
  if (!s->in)
    return -1;
  s->out = malloc(512); // LEAK D002
  if (!s->out) {
    free(s->in);
    return -1;
  }
  if (start_engine(2) != 0) {
    free(s->in);
    return -1; // LOST
  }
  s->size = 512;
  return 0;
}

void pipe_close_bad(struct pipe *s) {
  if (s->size) {
    free(s->in);
    free(s->out);
  }
  free(s);
}

/* What is freed is also taken out: the destructor frees whatever is there. */
struct tape {
  char *in, *out;
};

int tape_open_ok(struct tape *s) {
  s->in = malloc(512);
  if (!s->in)
    return -1;
  if (start_engine(3) != 0)
    return -1;
  s->out = malloc(512);
  if (!s->out) {
    free(s->in);
    s->in = NULL;
    return -1;
  }
  return 0;
}

void tape_close_ok(struct tape *s) {
  free(s->in);
  free(s->out);
  free(s);
}

/* The results tell the failures apart. */
struct disk {
  char *in, *out;
};

int disk_open_ok(struct disk *s) {
  s->in = malloc(512);
  if (!s->in)
    return -2;
  if (start_engine(4) != 0)
    return -1;
  s->out = malloc(512);
  if (!s->out) {
    free(s->in);
    return -2;
  }
  return 0;
}

int disk_use_ok(struct disk *s) {
  int code = disk_open_ok(s);
  if (code == -2)
    return code;
  free(s->in);
  if (code == 0)
    free(s->out);
  return code;
}

/* A buffer that was there before is kept for the next time. */
struct cache {
  char *text, *line;
};

int cache_fill_ok(struct cache *s) {
  if (!s->text)
    s->text = malloc(512);
  if (!s->text)
    return -1;
  s->line = malloc(80);
  if (!s->line)
    return -1;
  if (start_engine(5) != 0) {
    free(s->line);
    s->line = NULL;
    return -1;
  }
  return 0;
}

void cache_free_ok(struct cache *s) {
  free(s->text);
  free(s->line);
  free(s);
}
