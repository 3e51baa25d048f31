//! Generated C programs that are large in one way and small in all others.

use std::fmt::Write;

/// What a generated program has `n` of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parameter {
    /// Functions: the size of the program.
    Functions,
    CallDepth,
    /// Branches in one function, while an object is alive.
    Branches,
    /// Local pointers to heap objects in one function.
    Pointers,
    LoopNest,
    SwitchWidth,
    /// Structures each of which holds the next one.
    StructDepth,
    /// Functions that call one another in a cycle.
    Component,
}

impl Parameter {
    pub const ALL: [Parameter; 8] = [
        Parameter::Functions,
        Parameter::CallDepth,
        Parameter::Branches,
        Parameter::Pointers,
        Parameter::LoopNest,
        Parameter::SwitchWidth,
        Parameter::StructDepth,
        Parameter::Component,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Parameter::Functions => "functions",
            Parameter::CallDepth => "call depth",
            Parameter::Branches => "branches",
            Parameter::Pointers => "pointers",
            Parameter::LoopNest => "loop nest",
            Parameter::SwitchWidth => "switch width",
            Parameter::StructDepth => "struct depth",
            Parameter::Component => "component size",
        }
    }

    /// Values of the parameter, each twice the one before.
    pub fn values(self, quick: bool) -> Vec<usize> {
        let (first, count) = match self {
            Parameter::Functions => (250, 6),
            Parameter::CallDepth => (250, 6),
            Parameter::Branches => (125, 6),
            Parameter::Pointers => (16, 6),
            // clang refuses more than 256 levels of braces.
            Parameter::LoopNest => (4, 6),
            Parameter::SwitchWidth => (250, 6),
            Parameter::StructDepth => (4, 6),
            Parameter::Component => (8, 6),
        };
        let count = if quick { 3 } else { count };
        (0..count).map(|step| first << step).collect()
    }

    pub fn program(self, n: usize) -> String {
        let mut out =
            String::from("#include <stdlib.h>\n#include <string.h>\nextern int ask(int);\n");
        match self {
            Parameter::Functions => functions(&mut out, n),
            Parameter::CallDepth => call_depth(&mut out, n),
            Parameter::Branches => branches(&mut out, n),
            Parameter::Pointers => pointers(&mut out, n),
            Parameter::LoopNest => loop_nest(&mut out, n),
            Parameter::SwitchWidth => switch_width(&mut out, n),
            Parameter::StructDepth => struct_depth(&mut out, n),
            Parameter::Component => component(&mut out, n),
        }
        out
    }
}

/// Writing to a string can't fail.
macro_rules! line {
    ($out:expr, $($text:tt)*) => {{ let _ = writeln!($out, $($text)*); }};
}

/// Modules of ten functions of an everyday kind: a constructor with an error path, a destructor, users of both.
fn functions(out: &mut String, n: usize) {
    for module in 0..n.div_ceil(10) {
        line!(
            out,
            "struct s{module} {{ char *name; int *data; int used; }};"
        );
        line!(
            out,
            "static struct s{module} *make{module}(int n) {{ struct s{module} *s = malloc(sizeof *s); if (!s) return 0; \
             s->name = strdup(\"x\"); if (!s->name) {{ free(s); return 0; }} s->data = calloc(n, 4); \
             if (!s->data) {{ free(s->name); free(s); return 0; }} s->used = n; return s; }}"
        );
        line!(
            out,
            "static void drop{module}(struct s{module} *s) {{ if (!s) return; free(s->name); free(s->data); free(s); }}"
        );
        for user in 0..8 {
            line!(
                out,
                "int use{module}_{user}(int n) {{ struct s{module} *s = make{module}(n + {user}); char *t; if (!s) return -1; \
                 t = malloc(n); if (!t) {{ drop{module}(s); return -1; }} for (int i = 0; i < n; i++) s->data[i] = ask(i); \
                 if (s->used > {user}) memset(t, 0, n); free(t); drop{module}(s); return n; }}"
            );
        }
    }
}

/// An object is handed down a chain of calls and freed by the last.
fn call_depth(out: &mut String, n: usize) {
    line!(
        out,
        "static void f0(char *p, int c) {{ if (c) p[0] = 1; free(p); }}"
    );
    for at in 1..=n {
        let callee = at - 1;
        line!(
            out,
            "static void f{at}(char *p, int c) {{ if (ask(c)) p[0] = c; f{callee}(p, c + 1); }}"
        );
    }
    line!(
        out,
        "void run(void) {{ char *p = malloc(9); if (p) f{n}(p, 1); }}"
    );
}

fn branches(out: &mut String, n: usize) {
    line!(
        out,
        "int run(int a, int b) {{ char *p = malloc(9), *q = 0; int r = 0; if (!p) return -1;"
    );
    for at in 0..n {
        line!(
            out,
            "  if (ask({at})) {{ p[{}] = a; r += {at}; }} else if (a > {at}) r -= b;",
            at % 9
        );
        if at % 8 == 7 {
            line!(out, "  if (ask(-{at})) {{ free(p); return r; }}");
        }
    }
    line!(
        out,
        "  if (r > 7) q = malloc(3);\n  free(q); free(p); return r; }}"
    );
}

fn pointers(out: &mut String, n: usize) {
    line!(out, "int run(void) {{ int r = -1;");
    let names: Vec<String> = (0..n).map(|at| format!("*p{at} = 0")).collect();
    line!(out, "  char {};", names.join(", "));
    for at in 0..n {
        line!(out, "  p{at} = malloc({}); if (!p{at}) goto out;", at + 1);
    }
    line!(out, "  r = 0;\nout:");
    for at in 0..n {
        line!(out, "  free(p{at});");
    }
    line!(out, "  return r; }}");
}

fn loop_nest(out: &mut String, n: usize) {
    line!(out, "int run(int m) {{ int r = 0;");
    for at in 0..n {
        line!(
            out,
            "for (int i{at} = 0; i{at} < m; i{at}++) {{ char *p{at} = malloc(4); if (!p{at}) return r;"
        );
    }
    line!(out, "r += ask(r);");
    for at in (0..n).rev() {
        line!(out, "free(p{at}); }}");
    }
    line!(out, "return r; }}");
}

fn switch_width(out: &mut String, n: usize) {
    line!(
        out,
        "int run(int a) {{ char *p = malloc(9); int r = 0; if (!p) return -1;\n  switch (a) {{"
    );
    for at in 0..n {
        match at % 4 {
            0 => line!(out, "  case {at}: p[0] = {at}; break;"),
            1 => line!(out, "  case {at}: r = ask({at}); break;"),
            2 => line!(out, "  case {at}: free(p); return {at};"),
            _ => line!(out, "  case {at}: r += {at};"),
        }
    }
    line!(out, "  }}\n  free(p); return r; }}");
}

fn struct_depth(out: &mut String, n: usize) {
    line!(out, "struct s0 {{ char *text; }};");
    for at in 1..=n {
        line!(
            out,
            "struct s{at} {{ struct s{} *next; int kind; }};",
            at - 1
        );
    }
    line!(
        out,
        "static void drop0(struct s0 *s) {{ if (!s) return; free(s->text); free(s); }}"
    );
    line!(
        out,
        "static struct s0 *make0(void) {{ struct s0 *s = malloc(sizeof *s); if (!s) return 0; s->text = strdup(\"x\"); \
         if (!s->text) {{ free(s); return 0; }} return s; }}"
    );
    for at in 1..=n {
        let inner = at - 1;
        line!(
            out,
            "static void drop{at}(struct s{at} *s) {{ if (!s) return; drop{inner}(s->next); free(s); }}"
        );
        line!(
            out,
            "static struct s{at} *make{at}(void) {{ struct s{at} *s = malloc(sizeof *s); if (!s) return 0; \
             s->next = make{inner}(); if (!s->next) {{ free(s); return 0; }} s->kind = ask({at}); return s; }}"
        );
    }
    line!(
        out,
        "void run(void) {{ struct s{n} *s = make{n}(); if (s && ask(0)) s->kind = 1; drop{n}(s); }}"
    );
}

fn component(out: &mut String, n: usize) {
    for at in 0..n {
        line!(out, "void f{at}(char *p, int c);");
    }
    for at in 0..n {
        let (next, far) = ((at + 1) % n, (at * 7 + 3) % n);
        line!(
            out,
            "void f{at}(char *p, int c) {{ if (c > 100) {{ free(p); return; }} if (ask(c)) f{next}(p, c + 1); \
             else {{ char *q = malloc(c); if (q) f{far}(q, c + 2); free(p); }} }}"
        );
    }
    line!(
        out,
        "void run(void) {{ char *p = malloc(9); if (p) f0(p, 1); }}"
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_grow_with_the_parameter() {
        for parameter in Parameter::ALL {
            let values = parameter.values(false);
            assert!(values.windows(2).all(|pair| pair[1] == 2 * pair[0]));
            let (small, large) = (parameter.program(values[0]), parameter.program(values[2]));
            assert!(large.len() > 2 * small.len() - 600, "{parameter:?}");
            let braces = |text: &str, c: char| text.matches(c).count();
            assert_eq!(braces(&large, '{'), braces(&large, '}'), "{parameter:?}");
        }
    }
}
