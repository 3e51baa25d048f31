/* Settings, from lines of the form "key = value". */
#ifndef CONFIG_H
#define CONFIG_H

struct config {
    char *title;
    long low_stock;
};

/* NULL if the file can't be read or has a bad line. */
struct config *config_load(const char *path);

void config_free(struct config *config);

#endif
