//! What does a function do for its callers? Summaries of small C functions, as text.
//!
//! Each test is an idiom of ownership: a wrapper, an out-parameter, a conditional free, a setter.

mod common;

use drip_engines::staged;

/// The summary of function `name` in `source`.
#[track_caller]
fn summary(test: &str, source: &str, name: &str) -> String {
    let program = common::program(&format!("summary_{test}"), source);
    let summaries = staged::summaries(&program, &common::library());
    let mut ids = program.funcs.ids().iter().zip(&summaries);
    let (_, summary) = ids
        .find(|(func, _)| program.func_name(*func) == name)
        .expect("the function is in the program");
    let text = summary.as_ref().expect("the function has a body");
    text.to_string()
}

/// Findings in `source`, as `function: rule`.
#[track_caller]
fn findings(test: &str, source: &str) -> Vec<String> {
    let program = common::program(&format!("summary_{test}"), source);
    let analysis = staged::run(&program, &common::library());
    let findings = analysis.findings.iter();
    findings
        .map(|f| format!("{}: {}", f.primary.function, f.rule.code()))
        .collect()
}

#[test]
fn malloc_wrapper() {
    let text = summary(
        "malloc",
        "void *my_malloc(size_t n) { return malloc(n); }",
        "my_malloc",
    );
    insta::assert_snapshot!(text, @r"
    ret = 0
    ret = fresh0; make fresh0
    ");
}

const REALLOC: &str = "void *my_realloc(void *p, size_t n) { return realloc(p, n); }\n";

#[test]
fn realloc_wrapper_frees_its_argument_only_on_success() {
    let text = summary("realloc", REALLOC, "my_realloc");
    // A size of zero is a way to free.
    insta::assert_snapshot!(text, @r"
    arg0 == 0 => ret = 0
    arg0 == 0 => ret = fresh0; make fresh0
    arg0 != 0 and arg1 == 0 => ret = 0; free arg0
    arg0 != 0 and arg1 != 0 => ret = 0
    arg0 != 0 and arg1 != 0 => ret = fresh0; make fresh0; free arg0; copy arg0 to fresh0
    ");
}

#[test]
fn realloc_wrapper_that_fails_leaves_the_block_to_its_caller() {
    let caller = "
int f(char *p, size_t n) {
  char *q = malloc(n);
  if (!q)
    return 1;
  char *r = my_realloc(q, n + n);
  if (!r)
    return 2;
  free(r);
  return 0;
}
";
    assert_eq!(
        findings("realloc_caller", &format!("{REALLOC}{caller}")),
        ["f: D002"]
    );
}

#[test]
fn xmalloc_returns_memory_or_not_at_all() {
    let text = summary(
        "xmalloc",
        "
void *xmalloc(size_t n) {
  void *p = malloc(n);
  if (!p)
    exit(1);
  return p;
}
",
        "xmalloc",
    );
    insta::assert_snapshot!(text, @"ret = fresh0; make fresh0");
}

#[test]
fn die_never_returns() {
    let text = summary("die", "void die(void) { exit(1); }", "die");
    insta::assert_snapshot!(text, @"never returns");
}

#[test]
fn out_parameter_written_on_success_only() {
    let text = summary(
        "mk_success_only",
        "
int mk(char **o) {
  char *t = malloc(4);
  if (!t)
    return -1;
  *o = t;
  return 0;
}
",
        "mk",
    );
    insta::assert_snapshot!(text, @r"
    ret = -1
    ret = 0; make fresh0; arg0[0] := fresh0
    ");
}

#[test]
fn out_parameter_written_always() {
    let text = summary(
        "mk_always",
        "
int mk(char **o) {
  *o = malloc(5);
  return *o ? 0 : -1;
}
",
        "mk",
    );
    insta::assert_snapshot!(text, @r"
    ret = -1; arg0[0] := 0
    ret = 0; make fresh0; arg0[0] := fresh0
    ");
}

const BUFFER: &str = "
char **readBuf(void) {
  char **m = malloc(8);
  *m = malloc(2);
  (*m)[0] = getchar();
  return m;
}
void freeBuf(char **f) {
  char *z = *f;
  free(z);
  free(f);
}
";

#[test]
fn read_buf_hands_out_two_objects() {
    let text = summary("read_buf", BUFFER, "readBuf");
    // Both allocations are used without a look: where one fails the program ends.
    insta::assert_snapshot!(text, @"ret = fresh0; make fresh0; make fresh1; fresh0[0] := fresh1; fresh1[0] := any");
}

#[test]
fn free_buf_frees_both() {
    let text = summary("free_buf", BUFFER, "freeBuf");
    insta::assert_snapshot!(text, @"ret = any; free arg0; free arg0[0]");
}

#[test]
fn conditional_free() {
    let text = summary(
        "rel",
        "
void rel(char *p, int c) {
  if (c)
    free(p);
}
",
        "rel",
    );
    insta::assert_snapshot!(text, @r"
    arg1 == 0 => ret = any
    arg1 != 0 => ret = any; free arg0
    ");
}

#[test]
fn insert_after_links_its_arguments() {
    let text = summary(
        "insert_after",
        "
struct n { struct n *next; };
void insert_after(struct n *h, struct n *w) {
  w->next = h->next;
  h->next = w;
}
",
        "insert_after",
    );
    // The values on the right are those of the entry: the second write does not see the first.
    insta::assert_snapshot!(text, @"ret = any; arg0[0] := arg1; arg1[0] := arg0[0]");
}

#[test]
fn copy_returns_its_argument_or_null() {
    let text = summary(
        "copy",
        "
struct B { int v; };
struct B *copy(struct B *t, const struct B *a) {
  if (a->v < 0)
    return NULL;
  t->v = a->v;
  return t;
}
",
        "copy",
    );
    insta::assert_snapshot!(text, @r"
    arg1[0] < 0 => ret = 0
    arg1[0] >= 0 => ret = arg0; arg0[0] := arg1[0]
    ");
}

#[test]
fn last_reference_frees() {
    let text = summary(
        "put",
        "
struct o { int refs; char *name; };
void put(struct o *o) {
  if (--o->refs == 0) {
    free(o->name);
    free(o);
  }
}
",
        "put",
    );
    // Not the last reference: the other holders have it.
    insta::assert_snapshot!(text, @r"
    arg0[0] == 1 => ret = any; free arg0; free arg0[8]; arg0[0] := arg0[0] plus -1
    arg0[0] != 1 => ret = any; arg0[0] := arg0[0] plus -1; escape arg0 to unknown
    ");
}

#[test]
fn reset_frees_and_forgets() {
    let text = summary(
        "reset",
        "
struct s { int n; char *d; };
void reset(struct s *s) {
  free(s->d);
  s->d = NULL;
}
",
        "reset",
    );
    insta::assert_snapshot!(text, @"ret = any; free arg0[8]; arg0[8] := 0");
}

const STRING_BUFFER: &str = "
struct sb { size_t alloc, len; char *buf; };
char slop[1];
void init(struct sb *sb) {
  sb->alloc = 0;
  sb->len = 0;
  sb->buf = slop;
}
void release(struct sb *sb) {
  if (sb->alloc) {
    free(sb->buf);
    init(sb);
  }
}
";

#[test]
fn init_points_to_a_global() {
    let text = summary("sb_init", STRING_BUFFER, "init");
    insta::assert_snapshot!(text, @"ret = any; arg0[0] := 0; arg0[8] := 0; arg0[16] := @g0");
}

#[test]
fn release_frees_what_was_allocated() {
    let text = summary("sb_release", STRING_BUFFER, "release");
    insta::assert_snapshot!(text, @r"
    arg0[0] == 0 => ret = any; arg0[0] := 0
    arg0[0] != 0 => ret = any; free arg0[16]; arg0[0] := 0; arg0[8] := 0; arg0[16] := @g0
    ");
}

#[test]
fn setter_keeps_its_argument_on_success_only() {
    let text = summary(
        "setter",
        "
struct h { char *key; int sealed; };
int set(struct h *h, char *k) {
  if (h->sealed)
    return -1;
  h->key = k;
  return 0;
}
",
        "set",
    );
    insta::assert_snapshot!(text, @r"
    arg0[8] == 0 => ret = 0; arg0[0] := arg1
    arg0[8] != 0 => ret = -1
    ");
}

const LIST: &str = "
struct node { struct node *next; char *key; };
struct list { struct node *head; };
int add(struct list *l, char *k) {
  struct node *n = malloc(sizeof *n);
  if (!n)
    return -1;
  n->key = k;
  n->next = l->head;
  l->head = n;
  return 0;
}
";

#[test]
fn list_keeps_the_key_in_a_new_node_on_success_only() {
    let text = summary("list_add", LIST, "add");
    let outcomes: Vec<&str> = text.lines().collect();
    assert_eq!(outcomes.len(), 2, "{text}");
    assert!(outcomes[0].starts_with("ret = -1"), "{text}");
    assert!(!outcomes[0].contains("arg1"), "{text}");
    assert!(outcomes[1].starts_with("ret = 0; make fresh0; "), "{text}");
    assert!(outcomes[1].contains("; arg0[0] := fresh0"), "{text}");
    assert!(outcomes[1].contains("; fresh0[8] := arg1"), "{text}");
}

#[test]
fn key_is_the_callers_when_the_list_refuses_it() {
    let caller = "
int bad(struct list *l) {
  char *k = malloc(4);
  if (!k)
    return -1;
  return add(l, k);
}
int ok(struct list *l) {
  char *k = malloc(4);
  if (!k)
    return -1;
  if (add(l, k) < 0) {
    free(k);
    return -1;
  }
  return 0;
}
";
    assert_eq!(
        findings("list_caller", &format!("{LIST}{caller}")),
        ["bad: D002"]
    );
}

#[test]
fn a_pointer_passed_as_a_number_is_kept_by_who_can_keep_it() {
    const TREE: &str = "struct node { unsigned long key; };
        void put(struct node *n, unsigned long key) { n->key = key; }
        int before(unsigned long a, unsigned long b) { return a < b; }
        void keep(struct node *n, char *name) { put(n, (unsigned long)name); }
        int look(char *name, char *other) { return before((unsigned long)name, (unsigned long)other); }";
    let kept = summary("kept_number", TREE, "keep");
    assert!(kept.contains("escape arg1 to unknown"), "{kept}");
    let compared = summary("compared_number", TREE, "look");
    assert!(!compared.contains("escape"), "{compared}");
}

#[test]
fn fields_of_packed_structures_are_freed() {
    let source = "
struct __attribute__((packed)) header { char name[12]; char *rest; };
void header_free(struct header *h) {
  free(h->rest);
  free(h);
}";
    let text = summary("packed", source, "header_free");
    insta::assert_snapshot!(text, @"ret = any; free arg0; free arg0[12]");
}

#[test]
fn address_that_is_added_as_a_number() {
    let source = "
struct setting { char *address; int kind; };
int set(struct setting *settings, int n, char *base, int kind) {
  for (int i = 0; i < n; i++) {
    if (settings[i].kind == kind) {
      *(char **)((long)settings[i].address + base) = malloc(8);
      return 0;
    }
  }
  return 1;
}";
    let text = summary("added", source, "set");
    assert!(text.contains("may arg0[0+16*][?] := fresh0"), "{text}");
    assert!(text.contains("may arg2[?] := fresh0"), "{text}");
}
