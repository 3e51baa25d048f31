//! Question: what has become of an object, in a line of the ledger?
//!
//! Read off the ends of its use-flow graph, the worst first: lost, given up, undecided, kept by somebody, handed to the caller, freed.

use drip_flow::{EndKind, Machine, UseFlow};
use drip_pointer::{ObjId, ObjKind};

use super::super::calls::callee_name;
use super::super::names::position;
use super::super::report::Reporter;
use super::Work;
use crate::finding::{LedgerEntry, Verdict};

impl Work<'_, '_> {
    /// The ledger's line for an object that was not followed.
    pub(super) fn give_up(&mut self, object: ObjId, reason: &str) {
        let ObjKind::Fresh { call, .. } = self.frame.local.memory.kind(object) else {
            return;
        };
        let at = position(self.frame.program, self.frame, call);
        let callee = callee_name(self.frame.program, self.frame.body, call);
        self.ledger.push(LedgerEntry {
            at,
            callee,
            verdict: Verdict::GivenUp,
            reason: reason.to_owned(),
        });
    }

    /// The ledger's line for one object.
    pub(super) fn record(&mut self, object: ObjId, flow: &UseFlow, leaks: bool) {
        let ObjKind::Fresh { call, .. } = self.frame.local.memory.kind(object) else {
            return;
        };
        let reporter = Reporter::new(self.frame, self.library);
        let at = reporter.names.position(call);
        let (verdict, reason) = self.fate(flow, leaks, &reporter);
        let callee = callee_name(self.frame.program, self.frame.body, call);
        self.ledger.push(LedgerEntry {
            at,
            callee,
            verdict,
            reason,
        });
    }

    fn fate(&self, flow: &UseFlow, leaks: bool, reporter: &Reporter<'_, '_>) -> (Verdict, String) {
        if leaks {
            return (Verdict::Leak, "reported".to_owned());
        }
        if flow.limited {
            return (
                Verdict::GivenUp,
                "limit: too many states or steps in this function".to_owned(),
            );
        }
        if self.exhausted {
            return (
                Verdict::Undecided,
                "limit: some path may lose it, none of those that were tried is certain".to_owned(),
            );
        }
        if flow.ends.iter().any(|e| e.kind == EndKind::LostPerhaps) {
            return (
                Verdict::Undecided,
                "kept in an element with unknown index, freed by some loop".to_owned(),
            );
        }
        if flow.ends.iter().any(|e| e.kind == EndKind::HeldAtEnd) {
            return (
                Verdict::HeldAtEnd,
                "still held by main when the program ends".to_owned(),
            );
        }
        let mut escape = None;
        let mut handed = false;
        let mut freed = None;
        for end in flow.ends.iter().filter(|e| e.kind == EndKind::Settled) {
            match end.state.objects.first().map(|o| o.machine) {
                Some(Machine::Freed { at, .. }) => freed = freed.or(Some(at)),
                Some(Machine::Escaped { at, to }) => escape = escape.or(Some((at, to))),
                _ => handed = true,
            }
        }
        if let Some((at, to)) = escape {
            let place = reporter.names.position(at);
            let how = match to {
                drip_flow::Escape::Global(g) => {
                    format!("stored in global `{}`", self.frame.program.global_name(g))
                }
                drip_flow::Escape::Unknown(Some(f)) => {
                    format!(
                        "handed to unknown function `{}`",
                        self.frame.program.shown_name(f)
                    )
                }
                drip_flow::Escape::Unknown(None) => "handed to unknown code".to_owned(),
                drip_flow::Escape::Thread => "handed to another thread".to_owned(),
                drip_flow::Escape::Untracked => {
                    "kept in a structure that is not followed".to_owned()
                }
            };
            return (Verdict::Escaped, format!("{how} at line {}", place.line));
        }
        if handed {
            return (
                Verdict::HandedOver,
                "returned or stored for the caller".to_owned(),
            );
        }
        match freed {
            Some(at) => (
                Verdict::Freed,
                format!("freed at line {}", reporter.names.position(at).line),
            ),
            None => (
                Verdict::Unreachable,
                "no path allocates it and returns".to_owned(),
            ),
        }
    }
}
