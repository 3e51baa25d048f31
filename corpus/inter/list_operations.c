/* push, pop, insert after, remove: who owns the node at each step? */
#include <stdlib.h>

struct frame {
  struct frame *below;
  int pc;
};

struct stack {
  struct frame *top;
  int depth;
};

static void stack_push(struct stack *s, struct frame *f) {
  f->below = s->top;
  s->top = f;
  s->depth++;
}

static struct frame *stack_pop(struct stack *s) {
  struct frame *f = s->top;
  if (f) {
    s->top = f->below;
    s->depth--;
  }
  return f;
}

static int stack_peek(const struct stack *s) {
  return s->top ? s->top->pc : -1;
}

static void stack_clear(struct stack *s) {
  struct frame *f;
  while ((f = stack_pop(s)) != NULL)
    free(f);
}

static void insert_after(struct frame *at, struct frame *n) {
  n->below = at->below;
  at->below = n;
}

static struct frame *frame_new(int pc) {
  struct frame *f = calloc(1, sizeof *f);
  if (f)
    f->pc = pc;
  return f;
}

int popped_bad(int pc) {
  struct stack s = {NULL, 0};
  struct frame *f = frame_new(pc); // LEAK
  if (!f)
    return -1;
  stack_push(&s, f);
  stack_pop(&s);
  return s.depth;
}

int popped_ok(int pc) {
  struct stack s = {NULL, 0};
  struct frame *f = frame_new(pc);
  if (!f)
    return -1;
  stack_push(&s, f);
  free(stack_pop(&s));
  return s.depth;
}

int local_stack_bad(int pc) {
  struct stack s = {NULL, 0};
  struct frame *f = frame_new(pc); // LEAK
  if (!f)
    return -1;
  stack_push(&s, f);
  return stack_peek(&s);
}

int local_stack_ok(int pc) {
  struct stack s = {NULL, 0};
  struct frame *f = frame_new(pc);
  if (!f)
    return -1;
  stack_push(&s, f);
  pc = stack_peek(&s);
  stack_clear(&s);
  return pc;
}

void pushed_or_not_bad(struct stack *s, int pc) {
  struct frame *f = frame_new(pc); // LEAK
  if (f && s->depth < 10)
    stack_push(s, f);
}

void pushed_or_not_ok(struct stack *s, int pc) {
  if (s->depth >= 10)
    return;
  struct frame *f = frame_new(pc);
  if (f)
    stack_push(s, f);
}

int inserted_bad(struct frame *entry) {
  struct frame *head = frame_new(1); // LEAK
  if (!head)
    return -1;
  insert_after(head, entry);
  return 0;
}

int inserted_ok(struct frame *entry) {
  struct frame *n = frame_new(1);
  if (!n)
    return -1;
  insert_after(entry, n);
  return 0;
}
