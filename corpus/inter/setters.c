/* Setters that replace, keep or refuse; getters that lend. */
#include <stdlib.h>
#include <string.h>

struct widget {
  char *label;
  char *tip;
};

static int widget_set_label(struct widget *w, const char *s) {
  char *n = strdup(s);
  if (!n)
    return -1;
  free(w->label);
  w->label = n;
  return 0;
}

static void widget_take_tip(struct widget *w, char *tip) {
  free(w->tip);
  w->tip = tip;
}

static const char *widget_label(const struct widget *w) {
  return w->label;
}

static char *widget_steal_tip(struct widget *w) {
  char *t = w->tip;
  w->tip = NULL;
  return t;
}

static void widget_fini(struct widget *w) {
  free(w->label);
  free(w->tip);
}

int labelled_bad(const char *s) {
  struct widget w = {NULL, NULL};
  if (widget_set_label(&w, s) < 0) // LEAK
    return -1;
  return widget_label(&w)[0];
}

int labelled_ok(const char *s) {
  struct widget w = {NULL, NULL};
  if (widget_set_label(&w, s) < 0)
    return -1;
  int c = widget_label(&w)[0];
  widget_fini(&w);
  return c;
}

int stolen_tip_bad(const char *s) {
  struct widget w = {NULL, NULL};
  widget_take_tip(&w, strdup(s)); // LEAK
  char *t = widget_steal_tip(&w);
  widget_fini(&w);
  return t != NULL;
}

int stolen_tip_ok(const char *s) {
  struct widget w = {NULL, NULL};
  widget_take_tip(&w, strdup(s));
  char *t = widget_steal_tip(&w);
  widget_fini(&w);
  free(t);
  return 0;
}

void onto_parameter_bad(struct widget *w, const char *s, int hidden) {
  char *t = strdup(s); // LEAK
  if (!hidden)
    widget_take_tip(w, t);
}

void onto_parameter_ok(struct widget *w, const char *s, int hidden) {
  char *t = strdup(s);
  widget_take_tip(w, hidden ? NULL : t);
  if (hidden)
    free(t);
}
