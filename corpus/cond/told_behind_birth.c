// Whether a block is lost behind its birth is told by calls there: that no way to its birth was found among the first ones that were
// tried does not matter.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int parse(FILE *file, const char *line, char **out) {
    int seen = 0, words = 0, quotes = 0;
    for (const char *at = line; *at; at++) {
        if (*at == ' ') words++;
        else if (*at == '"') quotes++;
        else seen++;
    }
    if (seen < 40 || words < 7 || quotes < 6) return 1;
    char *text = malloc(64); // LEAK D002
    if (!text) return 3;
    if (fread(text, 1, 64, file) != 64) return 4; // LOST
    *out = text;
    return 0;
}

int fine(FILE *file, const char *line, char **out) {
    int seen = 0, words = 0, quotes = 0;
    for (const char *at = line; *at; at++) {
        if (*at == ' ') words++;
        else if (*at == '"') quotes++;
        else seen++;
    }
    if (seen < 40 || words < 7 || quotes < 6) return 1;
    char *text = seen > 20 ? malloc(64) : NULL;
    if (seen <= 20) return 4;
    *out = text;
    return fread(text, 1, 64, file) != 64;
}
