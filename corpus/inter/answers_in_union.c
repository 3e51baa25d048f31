/* Answers of several kinds in one union: what the kinds have in common is freed by the name of one of them. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct text {
  struct text *next;
  char *text;
};

struct long_text {
  struct long_text *next;
  char *text;
  size_t length;
  int is_first;
};

struct answer {
  int kind;
  union {
    struct text text;
    struct long_text long_text;
  } data;
};

void *answer_new_ok(int kind) {
  struct answer *answer = calloc(1, sizeof *answer);
  if (!answer)
    return NULL;
  answer->kind = kind;
  return &answer->data;
}

int answer_fill_ok(struct long_text *answer, const char *text) {
  answer->length = strlen(text);
  answer->text = strdup(text);
  return answer->text ? 0 : -1;
}

void answer_free_ok(void *data) {
  while (data) {
    struct answer *answer = (struct answer *)((char *)data - offsetof(struct answer, data));
    void *next = NULL;
    switch (answer->kind) {
    case 1:
    case 2:
      next = answer->data.text.next;
      free(answer->data.text.text);
      break;
    default:
      return;
    }
    free(answer);
    data = next;
  }
}

/* In a structure and not in a union: nobody frees it. */
struct label {
  struct label *next;
  char *text;
};

struct shape {
  int kind;
  struct label label;
};

struct shape *shape_new(int kind) {
  struct shape *shape = calloc(1, sizeof *shape);
  if (shape)
    shape->kind = kind;
  return shape;
}

int label_fill_bad(struct label *label, const char *text) {
  label->text = strdup(text); // LEAK D004
  return label->text ? 0 : -1;
}

int shape_fill_bad(struct shape *shape, const char *text) {
  return label_fill_bad(&shape->label, text);
}

void shape_free_bad(struct shape *shape) {
  free(shape); // LOST
}
