//! What is known of library functions: every family has a model, and the models fit the system's own declarations.

use crate::common::Project;

/// Functions of every family, as the system's headers declare them.
const USER: &str = "#define _GNU_SOURCE
#include <dirent.h>
#include <ifaddrs.h>
#include <locale.h>
#include <malloc.h>
#include <netdb.h>
#include <pthread.h>
#include <regex.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

void *all[] = {
    malloc, calloc, realloc, free, reallocarray, aligned_alloc, memalign, valloc, pvalloc, posix_memalign,
    strdup, strndup, wcsdup, asprintf, vasprintf, getline, getdelim, open_memstream, open_wmemstream,
    realpath, canonicalize_file_name, getcwd, get_current_dir_name, tempnam, scandir, scandirat,
    getaddrinfo, freeaddrinfo, getifaddrs, freeifaddrs, regcomp, regexec, regerror, regfree,
    fopen, fdopen, freopen, popen, tmpfile, fclose, pclose, opendir, fdopendir, closedir,
    pthread_create, pthread_setspecific, pthread_mutex_lock, setlocale, qsort, bsearch,
    printf, fprintf, snprintf, memcpy, memmove, memset, strlen, strcmp, strchr, putenv, exit, abort,
};
";

/// The same functions, as GLib declares them.
const GLIB: &str = "typedef unsigned long gsize;
typedef char gchar;
typedef void *gpointer;
typedef const void *gconstpointer;
gpointer g_malloc(gsize n);
gpointer g_malloc0(gsize n);
gpointer g_malloc_n(gsize n, gsize size);
gpointer g_try_malloc(gsize n);
gpointer g_realloc(gpointer mem, gsize n);
gpointer g_realloc_n(gpointer mem, gsize n, gsize size);
void g_free(gpointer mem);
gchar *g_strdup(const gchar *s);
gchar *g_strndup(const gchar *s, gsize n);
gchar *g_strdup_printf(const gchar *format, ...);
gchar *g_strconcat(const gchar *s, ...);
gchar **g_strsplit(const gchar *s, const gchar *by, int most);
void g_strfreev(gchar **strings);
gpointer g_slice_alloc(gsize n);
void g_slice_free1(gsize n, gpointer mem);
gpointer all[] = { g_malloc, g_malloc0, g_malloc_n, g_try_malloc, g_realloc, g_realloc_n, g_free, g_strdup, g_strndup,
    g_strdup_printf, g_strconcat, g_strsplit, g_strfreev, g_slice_alloc, g_slice_free1 };
";

/// The names in the braces of `all`.
fn listed(text: &str) -> Vec<&str> {
    let (_, list) = text.split_once("all[] = {").expect("the list");
    let (list, _) = list.split_once('}').expect("its end");
    let names = list.split(',').map(str::trim);
    names.filter(|name| !name.is_empty()).collect()
}

#[test]
fn every_family_has_models_that_fit_the_declarations() {
    let project = Project::new(&[("user.c", USER), ("glib.c", GLIB)]);
    for (file, text) in [("user.c", USER), ("glib.c", GLIB)] {
        let names = listed(text);
        let said = project.drip(&["models", "test", file]).ends_with(0);
        said.prints(&format!("{} of them are declared", names.len()))
            .prints(", 0 don't fit");
    }
    project.write("drip.toml", "resources = true\n");
    let said = project.drip(&["models", "test", "user.c"]).ends_with(0);
    said.prints(", 0 don't fit");
}

#[test]
fn models_that_do_not_fit_are_named() {
    let text =
        "int number(int size);\nvoid release(int handle);\nvoid *all[] = { number, release };\n";
    let project = Project::new(&[("other.c", text)]);
    let config = "[[allocator]]\nalloc = 'number'\nfree = 'release'\n\n\
                  [[function]]\nname = 'other'\ntakes = [1]\n";
    project.write("drip.toml", config);
    let said = project.drip(&["models", "test", "other.c"]).ends_with(1);
    said.prints("2 of them are declared in the program, 2 don't fit")
        .prints("number: the model returns a block, the declaration no pointer")
        .prints("release: the model takes arg0 for a pointer, the declaration does not");
}

const RESOURCES: &str = "#include <dirent.h>
#include <stdio.h>

int lines(const char *name)
{
    FILE *file = fopen(name, \"r\");
    int count = 0;
    if (!file)
        return -1;
    if (fgetc(file) == '#')
        return 0;
    while (fgetc(file) != EOF)
        count++;
    fclose(file);
    return count;
}

int entries(const char *name)
{
    DIR *dir = opendir(name);
    int count = 0;
    if (!dir)
        return -1;
    while (readdir(dir))
        count++;
    closedir(dir);
    return count;
}
";

#[test]
fn streams_are_followed_only_where_the_project_wants_it() {
    let project = Project::new(&[("resources.c", RESOURCES)]);
    project.drip(&["check", "resources.c"]).ends_with(0);
    project.write("drip.toml", "resources = true\n");
    let said = project.drip(&["check", "resources.c"]).ends_with(1);
    said.prints("--> resources.c:6:")
        .prints("`file` allocated by `fopen`")
        .prints("1 leak in 2 functions");
}

const LIBRARY: &str = "#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

void *g_malloc(unsigned long n);
void g_free(void *mem);
char *g_strdup(const char *s);

int forgets_the_buffer(void)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size); // 13
    if (!file)
        return -1;
    fputs(\"x\", file);
    fclose(file);
    return (int)size;
}

int forgets_the_list(const char *name)
{
    struct dirent **list;
    int count = scandir(name, &list, NULL, alphasort); // 24
    for (int i = 0; i < count; i++)
        free(list[i]);
    return count;
}

int frees_the_list(const char *name)
{
    struct dirent **list;
    int count = scandir(name, &list, NULL, alphasort);
    if (count < 0)
        return -1;
    for (int i = 0; i < count; i++)
        free(list[i]);
    free(list);
    return count;
}

int forgets_the_copy(const char *s)
{
    char *copy = g_strdup(s); // 44
    return copy ? copy[0] : 0;
}

int frees_the_block(void)
{
    char *block = g_malloc(10);
    block[0] = 1;
    int first = block[0];
    g_free(block);
    return first;
}
";

#[test]
fn buffers_of_streams_lists_of_directories_and_blocks_of_glib_leak() {
    let project = Project::new(&[("library.c", LIBRARY)]);
    let said = project.drip(&["check", "--output-format", "concise", "library.c"]);
    let said = said.ends_with(1);
    let lines: Vec<&str> = said
        .stdout
        .lines()
        .filter_map(|line| line.strip_prefix("library.c:")?.split(':').next())
        .collect();
    assert_eq!(lines, ["13", "24", "44"], "{}", said.stdout);
}

/// One function for each thing that a function can do with memory.
const ROLES: &str = "#include <stdlib.h>\n#include <string.h>\n\
    struct box { char *text; };\n\
    struct box *box_new(const char *s) {\n\
      struct box *b = malloc(sizeof *b);\n\
      if (!b) return NULL;\n\
      b->text = strdup(s);\n\
      if (!b->text) { free(b); return NULL; }\n\
      return b;\n}\n\
    void box_free(struct box *b) { if (b) { free(b->text); free(b); } }\n\
    static struct box *kept;\n\
    int box_keep(struct box *b) { if (kept) return -1; kept = b; return 0; }\n\
    size_t box_length(const struct box *b) { return strlen(b->text); }\n\
    void free_last(char *a, char *b, char *c, char *d, char *e, char *f, char *g, char *h, char *i, char *j,\n\
      char *k) { free(k); }\n\
    _Noreturn void box_die(void) { abort(); }\n";

#[test]
fn roles_of_functions_are_found_by_what_they_do() {
    let project = Project::new(&[("box.c", ROLES)]);
    let said = project
        .drip(&["models", "list", "--computed", "box.c"])
        .ends_with(0);
    said.prints("box_new: allocates its result in some outcomes; only uses arg0")
        .prints("box_free: frees arg0; frees arg0[0]")
        .prints("box_keep: keeps arg0 in some outcomes")
        .prints("box_length: only uses arg0")
        .prints("free_last: frees arg10; only uses arg0, arg1, arg2,")
        .prints("box_die: never returns");
    let said = project.drip(&["models", "list", "box.c"]).ends_with(2);
    said.complains("--computed");
}
