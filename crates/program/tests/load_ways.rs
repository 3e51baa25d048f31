//! The same source gives the same program, whichever way it became bitcode.

mod load_common;

use drip_program::*;
use load_common::*;

const SOURCE: &str = r#"
#include <stdlib.h>
#include <string.h>
struct part { char *a; int n; struct { long q; char c; } in; };
static int use(struct part *p) { return p->n; }
int loops(int n, char **out) {
  char *p;
  if (n > 3)
    p = malloc(n);
  else
    p = NULL;
  struct part s;
  s.a = p; s.n = 4; s.in.q = n;
  int arr[3];
  arr[0] = 1; arr[1] = n; arr[2] = s.n;
  for (int i = 0; i < n; i++) {
    char *q = malloc(i);
    if (!q) goto fail;
    free(q);
    q = NULL;
  }
  *out = s.a;
  switch (n) { case 1: case 2: return arr[1]; case 7: return 3; default: break; }
  return (int)s.in.q;
fail:
  free(p);
  return -1;
}
struct part copies(struct part x) { struct part y = x; y.n++; use(&y); return y; }
int ternary(int a, int b) { return (a && b) ? a - b : (a || b); }
int vla(int n) { char buf[n]; memset(buf, 0, n); return buf[0]; }
int early(int *p) { while (1) { if (!p) return 1; if (*p++ == 3) break; } return 0; }
double mixed(float f, int i) { double d = f; d += i; return d; }
"#;

const FUNCTIONS: [&str; 7] = ["loops", "use", "copies", "ternary", "vla", "early", "mixed"];

/// The body without what LLVM's promotion loses: markers, positions, uninitialised reads.
fn skeleton(program: &Program, body: &Body) -> String {
    let mut number = vec![String::new(); body.value_count()];
    for (param, name) in number.iter_mut().take(body.param_count()).enumerate() {
        *name = format!("arg{param}");
    }
    let kept = |inst: &Inst| !matches!(inst.op, Op::Bind { .. } | Op::Uninit { .. });
    let mut next = 0;
    for id in body.insts.ids() {
        if kept(&body.insts[id]) {
            number[body.result(id).index()] = format!("v{next}");
            next += 1;
        }
    }
    let operand = |o: Operand| match o.kind() {
        OperandKind::Value(v) => match number[v.index()].as_str() {
            "" => "unknown".to_owned(),
            known => known.to_owned(),
        },
        OperandKind::Const(c) => match &body.consts[c] {
            Const::Undef(_) => "unknown".to_owned(),
            Const::Func(f) => program.func_name(*f).to_owned(),
            Const::Int { bits, .. } => bits.to_string(),
            other => format!("{other:?}"),
        },
    };
    let mut out = String::new();
    for block in body.blocks.ids() {
        out += &format!("{block}:\n");
        for id in body.block_insts(block).filter(|id| kept(&body.insts[*id])) {
            let inst = &body.insts[id];
            let name = format!("{:?}", inst.op);
            let name = name.split([' ', '(']).next().unwrap_or("");
            out += &format!(
                "  {} {:?} {name}",
                number[body.result(id).index()],
                program.types.get(inst.ty)
            );
            body.for_each_operand(id, |o| out += &format!(" {}", operand(o)));
            match inst.op {
                Op::Phi { incoming } => {
                    body.incoming(incoming)
                        .iter()
                        .for_each(|i| out += &format!(" {}", i.block));
                }
                Op::PtrAdd { offset, .. } => out += &format!(" +{offset}"),
                _ => body.for_each_succ(block, |s| out += &format!(" {s}")),
            }
            out += "\n";
        }
    }
    out
}

#[test]
fn three_ways_give_one_structure() {
    let shop = Workshop::new();
    for version in versions() {
        let programs =
            WAYS.map(|way| load_clean(vec![shop.compile(version, way, "t.c", SOURCE, &[])]));
        for name in FUNCTIONS {
            let [capture, o0, mem2reg] = programs.each_ref().map(|p| skeleton(p, body(p, name)));
            assert_eq!(capture, o0, "{name} with clang{version}: capture and -O0");
            assert_eq!(
                capture, mem2reg,
                "{name} with clang{version}: capture and mem2reg"
            );
        }
    }
}

#[test]
fn capture_and_o0_agree_on_names_markers_and_positions() {
    let shop = Workshop::new();
    for version in versions() {
        let programs = [Way::Capture, Way::O0]
            .map(|way| load_clean(vec![shop.compile(version, way, "t.c", SOURCE, &[])]));
        for name in FUNCTIONS {
            let shown = programs.each_ref().map(|p| binds(p, body(p, name)));
            assert_eq!(shown[0], shown[1], "{name} with clang{version}");
            let lines = programs.each_ref().map(|p| {
                let body = body(p, name);
                let line = |i: &Inst| i.loc.map(|l| (body.locs[l].line, body.locs[l].column));
                body.insts.iter().map(line).collect::<Vec<_>>()
            });
            assert_eq!(lines[0], lines[1], "{name} with clang{version}");
        }
    }
}

#[test]
fn llvms_promotion_keeps_the_order_of_bindings() {
    let shop = Workshop::new();
    let without_line = |all: Vec<String>| -> Vec<String> {
        all.iter()
            .map(|b| b.split(" @").next().unwrap_or("").to_owned())
            .collect()
    };
    for version in versions() {
        let programs = [Way::Capture, Way::Mem2reg]
            .map(|way| load_clean(vec![shop.compile(version, way, "t.c", SOURCE, &[])]));
        for name in ["loops", "ternary", "early", "mixed"] {
            let [ours, theirs] = programs
                .each_ref()
                .map(|p| without_line(binds(p, body(p, name))));
            assert_eq!(ours, theirs, "{name} with clang{version}");
        }
    }
}

#[test]
fn typed_and_opaque_pointers_give_one_structure() {
    let shop = Workshop::new();
    let found = versions();
    let [old, .., new] = found.as_slice() else {
        return;
    };
    let programs =
        [old, new].map(|v| load_clean(vec![shop.compile(v, Way::Capture, "t.c", SOURCE, &[])]));
    for name in FUNCTIONS {
        let [a, b] = programs.each_ref().map(|p| skeleton(p, body(p, name)));
        assert_eq!(a, b, "{name}");
    }
}
