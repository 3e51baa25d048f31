// Who frees a block on one way holds it there. If it is in a variable alone and only looked at from there on, nobody has taken it in the end, by
// whatever complicated way the function goes on.
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct editor {
    int reads, writes, locks, quiet;
    unsigned right;
    char *shown;
    char *last;
};

static void status(struct editor *editor, const char *format, ...) {
    va_list arguments;
    if (editor->quiet)
        return;
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
}

static int is_locked(const struct editor *editor, const char *name) {
    return editor->shown && strcmp(editor->shown, name) == 0;
}

static void keep(struct editor *editor, char *name) { editor->last = name; }

int open_bad(struct editor *editor, const char *path) {
    unsigned right = editor->right, rights = 0;
    char *name = strdup(path); // LEAK
    if (!name)
        return -1;
    if (editor->reads)
        rights += right;
    if (editor->writes)
        rights += right;
    if (editor->locks)
        rights += right;
    if (right < 1 || right > 9 || rights != 3 * right) {
        status(editor, "%s may not be opened", name);
        free(name);
        return -1;
    }
    if (is_locked(editor, name))
        status(editor, "%s is locked", name);
    status(editor, "%s is opened", name);
    return 0;
}

int open_ok(struct editor *editor, const char *path) {
    unsigned right = editor->right, rights = 0;
    char *name = strdup(path);
    if (!name)
        return -1;
    if (editor->reads)
        rights += right;
    if (editor->writes)
        rights += right;
    if (editor->locks)
        rights += right;
    if (right < 1 || right > 9 || rights != 3 * right) {
        status(editor, "%s may not be opened", name);
        free(name);
        return -1;
    }
    if (is_locked(editor, name))
        status(editor, "%s is locked", name);
    status(editor, "%s is opened", name);
    free(name);
    return 0;
}

// Somebody keeps it in the end.
int open_kept_ok(struct editor *editor, const char *path) {
    unsigned right = editor->right, rights = 0;
    char *name = strdup(path);
    if (!name)
        return -1;
    if (editor->reads)
        rights += right;
    if (editor->writes)
        rights += right;
    if (editor->locks)
        rights += right;
    if (right < 1 || right > 9 || rights != 3 * right) {
        status(editor, "%s may not be opened", name);
        free(name);
        return -1;
    }
    if (is_locked(editor, name))
        status(editor, "%s is locked", name);
    keep(editor, name);
    return 0;
}
