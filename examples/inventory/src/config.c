#include "config.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mem.h"

static const char *skip_space(const char *text)
{
    while (isspace((unsigned char)*text))
        text++;
    return text;
}

static size_t trimmed_length(const char *text, size_t length)
{
    while (length > 0 && isspace((unsigned char)text[length - 1]))
        length--;
    return length;
}

static bool set(struct config *config, const char *key, const char *value)
{
    if (strcmp(key, "title") == 0) {
        char *title = mem_dup_part(value, trimmed_length(value, strlen(value)));
        if (!title)
            return false;
        mem_free(config->title);
        config->title = title;
        return true;
    }
    if (strcmp(key, "low_stock") == 0) {
        config->low_stock = strtol(value, NULL, 10);
        return true;
    }
    return false;
}

static bool parse_line(struct config *config, const char *line)
{
    line = skip_space(line);
    if (*line == '\0' || *line == '#')
        return true;
    const char *equals = strchr(line, '=');
    if (!equals)
        return false;
    char *key = mem_dup_part(line, trimmed_length(line, (size_t)(equals - line))); // LEAK
    if (!key)
        return false;
    const char *value = skip_space(equals + 1);
    if (*value == '\0') {
        fprintf(stderr, "no value for %s\n", key);
        return false; /* an error path that forgets the key */
    }
    bool known = set(config, key, value);
    mem_free(key);
    return known;
}

struct config *config_load(const char *path)
{
    FILE *in = fopen(path, "r");
    if (!in)
        return NULL;
    struct config *config = mem_alloc(sizeof *config);
    char line[256];
    while (config && fgets(line, sizeof line, in)) {
        if (!parse_line(config, line)) {
            fprintf(stderr, "%s: bad line: %s", path, line);
            config_free(config);
            config = NULL;
        }
    }
    fclose(in);
    return config;
}

void config_free(struct config *config)
{
    if (!config)
        return;
    mem_free(config->title);
    mem_free(config);
}
