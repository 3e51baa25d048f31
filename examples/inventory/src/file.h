/* Whole files as strings. */
#ifndef FILE_H
#define FILE_H

/* The file's text, to be freed by the caller; NULL if it can't be read. */
char *file_read(const char *path);

#endif
