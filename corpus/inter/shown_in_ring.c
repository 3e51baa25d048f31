// Functions that call each other in a ring hand round what they get. A buffer that none of them stores or frees is not kept by the ring.
#include <stdlib.h>
#include <string.h>

struct disk {
    int depth;
    char *kept;
};

int read_block(struct disk *disk, int block, void *buffer);
int read_list(struct disk *disk, int block, void *buffer);
int read_tree(struct disk *disk, int block, void *buffer);
int read_file(struct disk *disk, int block, void *buffer);
int read_raw(struct disk *disk, int block, void *buffer);

int read_block(struct disk *disk, int block, void *buffer) {
    return disk->depth++ > 4 ? 0 : read_list(disk, block, buffer);
}

int read_list(struct disk *disk, int block, void *buffer) {
    return block & 1 ? read_tree(disk, block / 2, buffer) : 0;
}

int read_tree(struct disk *disk, int block, void *buffer) {
    return block & 2 ? read_file(disk, block / 2, buffer) : 0;
}

int read_file(struct disk *disk, int block, void *buffer) {
    return block & 4 ? read_raw(disk, block / 2, buffer) : 0;
}

int read_raw(struct disk *disk, int block, void *buffer) {
    if (block < 0)
        return 1 | read_block(disk, -block, buffer);
    memset(buffer, block, 512);
    return 0;
}

int keep_block(struct disk *disk, int block, char *buffer);
int keep_list(struct disk *disk, int block, char *buffer);
int keep_tree(struct disk *disk, int block, char *buffer);
int keep_file(struct disk *disk, int block, char *buffer);
int keep_raw(struct disk *disk, int block, char *buffer);

int keep_block(struct disk *disk, int block, char *buffer) {
    return disk->depth++ > 4 ? 0 : keep_list(disk, block, buffer);
}

int keep_list(struct disk *disk, int block, char *buffer) {
    return block & 1 ? keep_tree(disk, block / 2, buffer) : 0;
}

int keep_tree(struct disk *disk, int block, char *buffer) {
    return block & 2 ? keep_file(disk, block / 2, buffer) : 0;
}

int keep_file(struct disk *disk, int block, char *buffer) {
    return block & 4 ? keep_raw(disk, block / 2, buffer) : 0;
}

int keep_raw(struct disk *disk, int block, char *buffer) {
    if (block < 0)
        return keep_block(disk, -block, buffer);
    disk->kept = buffer;
    return 0;
}

int first_bad(struct disk *disk, int block) {
    char *buffer = malloc(512); // LEAK
    if (!buffer)
        return -1;
    if (read_block(disk, block, buffer) != 0)
        return -1;
    int first = buffer[0];
    free(buffer);
    return first;
}

int first_ok(struct disk *disk, int block) {
    char *buffer = malloc(512);
    if (!buffer)
        return -1;
    if (read_block(disk, block, buffer) != 0) {
        free(buffer);
        return -1;
    }
    int first = buffer[0];
    free(buffer);
    return first;
}

int kept_ok(struct disk *disk, int block) {
    char *buffer = malloc(512);
    if (!buffer)
        return -1;
    return keep_block(disk, block, buffer);
}
