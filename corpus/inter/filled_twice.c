// A variable that a function fills without looking, called twice on one way.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *title;

static void set_title(const char *text) {
  title = strdup(text); // LEAK // LOST
}

void titles_bad(void) {
  set_title("a");
  puts(title);
  set_title("b");
}

static char *caption;

static void set_caption(const char *text) {
  free(caption);
  caption = strdup(text);
}

void captions_ok(void) {
  set_caption("a");
  puts(caption);
  set_caption("b");
}

static char *footer;

static void set_footer(const char *text) {
  footer = strdup(text);
}

void footers_ok(int is_long) {
  if (is_long)
    set_footer("a");
  else
    set_footer("b");
}

static char *header;

static void set_header(const char *text) {
  header = strdup(text);
}

static void drop_header(void) {
  free(header);
  header = NULL;
}

void headers_ok(void) {
  set_header("a");
  drop_header();
  set_header("b");
}

static char *margin;

static void set_margin(int n) {
  margin = malloc(8 + n); // LEAK
}

static void drop_margin(void) {
  free(margin);
  margin = NULL;
}

void margins_bad(void) {
  set_margin(1);
  set_margin(2);
  drop_margin();
}
