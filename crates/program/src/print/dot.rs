//! One function's control flow as a Graphviz drawing: a box per block with its text, an arrow per edge, labelled with what
//! makes control take it. Edges back to a block that dominates them are drawn thick; unreachable blocks dashed.

use std::fmt::Write;

use crate::body::{Body, Op};
use crate::cfg::{Cfg, EdgeId};
use crate::ids::{BlockId, FuncId};
use crate::model::Program;

use super::Printer;

/// The function as Graphviz text; an empty graph if it has no body. The program must be well formed.
pub fn print_dot(program: &Program, func: FuncId) -> String {
    let mut out = String::from("digraph {\n  node [shape=box, fontname=monospace];\n");
    let function = program.funcs.get(func);
    if let Some((function, body)) = function.and_then(|f| Some((f, f.body.as_ref()?))) {
        let cfg = Cfg::build(body);
        let mut printer = Printer::new(program);
        printer.aggregates(body);
        for block in body.blocks.ids() {
            printer.out.clear();
            printer.block(function, body, block);
            let dashed = if cfg.is_reachable(block) {
                ""
            } else {
                ", style=dashed"
            };
            let _ = writeln!(
                out,
                "  {block} [label=\"{}\"{dashed}];",
                escape(&printer.out)
            );
        }
        for edge in (0..cfg.num_edges()).map(EdgeId::new) {
            let (from, to) = (cfg.source(edge), cfg.target(edge));
            let label = edge_label(body, from, cfg.position(edge));
            let thick = if cfg.is_back_edge(edge) {
                ", penwidth=3"
            } else {
                ""
            };
            let _ = writeln!(out, "  {from} -> {to} [label=\"{label}\"{thick}];");
        }
    }
    out.push_str("}\n");
    out
}

/// Lines are left-aligned.
fn escape(text: &str) -> String {
    let quoted = text.replace('\\', "\\\\").replace('"', "\\\"");
    quoted.replace('\n', "\\l")
}

fn edge_label(body: &Body, from: BlockId, position: usize) -> String {
    match (body.insts[body.terminator(from)].op, position) {
        (Op::CondBr { .. }, 0) => "true".to_owned(),
        (Op::CondBr { .. }, _) => "false".to_owned(),
        (Op::Switch { .. }, 0) => "default".to_owned(),
        (Op::Switch { cases, .. }, _) => match body.cases(cases).get(position - 1) {
            Some(case) => case.value.to_string(),
            None => String::new(),
        },
        (Op::Invoke { .. }, 1) => "unwind".to_owned(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::parse_program;

    #[test]
    fn blocks_are_boxes_and_edges_are_labelled() {
        let text = "func @f(i32 %n) {\nbr b1\nb1:\n%c = cmp eq %n, i32 1\nbr %c, b1, b2\nb2:\n\
                    switch %n, b3 [7: b3]\nb3:\nret\nb4:\nunreachable\n}";
        let program = parse_program(text).unwrap();
        let expected = r#"digraph {
  node [shape=box, fontname=monospace];
  b0 [label="b0:\l  br b1\l"];
  b1 [label="b1:\l  v2 = cmp eq v0, i32 1\l  br v2, b1, b2\l"];
  b2 [label="b2:\l  switch v0, b3 [7: b3]\l"];
  b3 [label="b3:\l  ret\l"];
  b4 [label="b4:\l  unreachable\l", style=dashed];
  b0 -> b1 [label=""];
  b1 -> b1 [label="true", penwidth=3];
  b1 -> b2 [label="false"];
  b2 -> b3 [label="default"];
  b2 -> b3 [label="7"];
}
"#;
        assert_eq!(print_dot(&program, FuncId::new(0)), expected);
        assert!(print_dot(&program, FuncId::new(9)).ends_with("monospace];\n}\n"));
    }

    #[test]
    fn strings_are_escaped() {
        assert_eq!(escape("@\"a\\\"b\"\n"), r#"@\"a\\\"b\"\l"#);
    }
}
