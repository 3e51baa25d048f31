// A part that points back to its owner is checked before it is freed (`part->owner == owner`). That the two are equal says nothing against the
// owner being a block of the caller's: it is not kept by anybody.
#include <stdlib.h>

struct stream;

struct state {
    struct stream *stream;
    char *window;
};

struct stream {
    const char *next;
    struct state *state;
};

static int begin(struct stream *stream) {
    struct state *state = malloc(sizeof(*state));
    if (!state)
        return -1;
    state->stream = stream;
    state->window = NULL;
    stream->state = state;
    return 0;
}

static int end(struct stream *stream) {
    if (!stream || !stream->state || stream->state->stream != stream)
        return -1;
    free(stream->state->window);
    free(stream->state);
    stream->state = NULL;
    return 0;
}

struct stream *stream_new(void) {
    struct stream *stream = malloc(sizeof(*stream));
    if (!stream)
        return NULL;
    stream->next = NULL;
    if (begin(stream) != 0) {
        free(stream);
        return NULL;
    }
    return stream;
}

int read_bad(const char *bytes) {
    struct stream *stream = stream_new(); // LEAK
    if (!stream)
        return -1;
    stream->next = bytes;
    if (end(stream) != 0)
        abort();
    return 0;
}

int read_ok(const char *bytes) {
    struct stream *stream = stream_new();
    if (!stream)
        return -1;
    stream->next = bytes;
    int result = end(stream);
    free(stream);
    return result;
}
