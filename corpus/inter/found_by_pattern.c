/* What glob and wordexp find is a vector of theirs, in the structure of the caller. */
#include <glob.h>
#include <stdio.h>
#include <wordexp.h>

int paths_bad(const char *pattern) {
  glob_t found;
  if (glob(pattern, 0, NULL, &found) != 0) // LEAK
    return -1;
  puts(found.gl_pathv[0]);
  return 0;
}

int paths_ok(const char *pattern) {
  glob_t found;
  if (glob(pattern, 0, NULL, &found) != 0)
    return -1;
  puts(found.gl_pathv[0]);
  globfree(&found);
  return 0;
}

int paths_added_ok(const char *pattern, const char *other) {
  glob_t found;
  if (glob(pattern, 0, NULL, &found) != 0)
    return -1;
  if (glob(other, GLOB_APPEND, NULL, &found) == 0)
    puts(found.gl_pathv[0]);
  globfree(&found);
  return 0;
}

int words_bad(const char *text) {
  wordexp_t words;
  if (wordexp(text, &words, 0) != 0) // LEAK
    return -1;
  return (int)words.we_wordc;
}

int words_ok(const char *text) {
  wordexp_t words;
  if (wordexp(text, &words, 0) != 0)
    return -1;
  int count = (int)words.we_wordc;
  wordfree(&words);
  return count;
}
