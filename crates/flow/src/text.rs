//! Text and dot forms of a use-flow graph.

use std::fmt;

use crate::graph::{Choice, EndKind, UseFlow};
use crate::state::{Machine, State, Where};

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, object) in self.objects.iter().enumerate() {
            let machine = match object.machine {
                Machine::Unborn => "unborn".to_owned(),
                Machine::Null => "null".to_owned(),
                Machine::Allocated => "allocated".to_owned(),
                Machine::Freed { at, sure } => {
                    format!("freed{} at {at}", if sure { "" } else { "?" })
                }
                Machine::Escaped { at, .. } => format!("escaped at {at}"),
                Machine::Lost => "lost".to_owned(),
            };
            let places: Vec<String> = object
                .places
                .iter()
                .map(|p| {
                    let at = match p.at {
                        Where::Value(v, 0) => v.to_string(),
                        Where::Value(v, off) => format!("{v}.{off}"),
                        Where::Cell(cell) => cell.to_string(),
                        Where::Var(var) => var.to_string(),
                    };
                    if p.weak { format!("{at}?") } else { at }
                })
                .collect();
            let separator = if index == 0 { "" } else { "; " };
            write!(f, "{separator}{machine} {{{}}}", places.join(" "))?;
        }
        if !self.facts.is_empty() || !self.env.is_empty() {
            write!(
                f,
                " knowing {} facts, {} values",
                self.facts.len(),
                self.env.len()
            )?;
        }
        Ok(())
    }
}

fn show_choices(choices: &[Choice]) -> String {
    choices
        .iter()
        .map(|c| format!(" {}#{}", c.inst, c.alternative))
        .collect()
}

fn show_kind(kind: EndKind) -> &'static str {
    match kind {
        EndKind::Lost => "LOST",
        EndKind::LostPerhaps => "lost perhaps",
        EndKind::Settled => "settled",
        EndKind::Exit => "exit",
        EndKind::HeldAtEnd => "held at end",
    }
}

impl fmt::Display for UseFlow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let objects: Vec<String> = self.objects.iter().map(ToString::to_string).collect();
        writeln!(
            f,
            "objects {}{}",
            objects.join(" "),
            if self.limited { " (limited)" } else { "" }
        )?;
        for (id, node) in self.nodes.iter_enumerated() {
            let preds: Vec<String> = node
                .preds
                .iter()
                .map(|e| format!("{}{}", e.from, show_choices(&e.choices)))
                .collect();
            writeln!(
                f,
                "{id} {}: {} <- [{}]",
                node.block,
                node.state,
                preds.join(", ")
            )?;
        }
        for end in &self.ends {
            let choices = show_choices(&end.choices);
            writeln!(
                f,
                "{}{choices} -> {} at {}: {}",
                end.node,
                show_kind(end.kind),
                end.at,
                end.state
            )?;
        }
        Ok(())
    }
}

impl UseFlow {
    /// The graph for graphviz.
    pub fn dot(&self, name: &str) -> String {
        use std::fmt::Write as _;
        let mut out =
            format!("digraph \"{name}\" {{\n  node [shape=box, fontname=\"monospace\"];\n");
        for (id, node) in self.nodes.iter_enumerated() {
            let _ = writeln!(out, "  {id} [label=\"{} {}\"];", node.block, node.state);
            for edge in &node.preds {
                let _ = writeln!(
                    out,
                    "  {} -> {id} [label=\"{}\"];",
                    edge.from,
                    show_choices(&edge.choices).trim()
                );
            }
        }
        for (index, end) in self.ends.iter().enumerate() {
            let colour = match end.kind {
                EndKind::Lost => "red",
                EndKind::LostPerhaps | EndKind::HeldAtEnd => "orange",
                EndKind::Settled | EndKind::Exit => "green",
            };
            let _ = writeln!(
                out,
                "  end{index} [label=\"{} at {}\", shape=ellipse, color={colour}];",
                show_kind(end.kind),
                end.at
            );
            let _ = writeln!(
                out,
                "  {} -> end{index} [label=\"{}\"];",
                end.node,
                show_choices(&end.choices).trim()
            );
        }
        out.push_str("}\n");
        out
    }
}
