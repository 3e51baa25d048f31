// Two functions end the same kind of structure. One of them also frees the structure, the other one only its parts. That the other one has shown the
// structure to somebody who may keep it, before it freed the parts, makes no difference: whoever kept it would keep what is freed.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct file {
    int mode;
    char *path;
    char *in;
    char *out;
};

// Somebody outside.
void progress(struct file *file);

struct file *file_open(const char *path, int mode) {
    struct file *file = malloc(sizeof(*file)); // LEAK
    if (!file)
        return NULL;
    file->mode = mode;
    file->path = strdup(path);
    file->in = malloc(4096);
    file->out = malloc(4096);
    return file;
}

static int close_read(struct file *file) {
    progress(file);
    free(file->in);
    free(file->out);
    free(file->path);
    free(file);
    return 0;
}

static int close_write(struct file *file) {
    progress(file);
    file->mode = -1;
    free(file->in);
    free(file->out);
    free(file->path);
    return 0;
}

int file_close(struct file *file) {
    return file->mode ? close_write(file) : close_read(file);
}
