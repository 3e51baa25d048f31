//! Question: is what a function puts into a place for its callers a new block of theirs?
//!
//! `item_new(strdup(name), …)` keeps its parameter in a field: the field owns the block as if it had been made there, if every caller
//! gives away a new block (or null) and keeps nothing of it.

use drip_flow::args_of;
use drip_program::{FuncId, InstId, Operand};
use rustc_hash::FxHashMap;

use super::super::callers::Callers;
use super::facts::{Facts, Made};
use super::view::View;

/// Callers of callers that are asked; beyond them the block is somebody else's.
const MAX_LEVELS: usize = 3;

/// Settles the parameters that functions put into places: new blocks of the callers, or borrowed.
pub fn settle_parameters(views: &[View<'_, '_>], callers: &Callers<'_>, facts: &mut Facts) {
    let index = views.iter().enumerate().map(|(n, view)| (view.func, n));
    let search = Search {
        views,
        callers,
        index: index.collect(),
    };
    for (place, func, n, store) in std::mem::take(&mut facts.handed) {
        let Some(view) = search.view(func) else {
            continue;
        };
        let mut made = Vec::new();
        let value = view.body.param(usize::from(n));
        let is_new = view.stays(value, store) && search.is_new(func, n, MAX_LEVELS, &mut made);
        if is_new && !made.is_empty() {
            facts.own_parameters.insert((func, n));
            facts.made.entry(place).or_default().extend(made);
        } else {
            facts.borrow(view, place, store);
        }
    }
}

struct Search<'a, 's, 'c> {
    views: &'a [View<'s, 'c>],
    callers: &'a Callers<'a>,
    index: FxHashMap<FuncId, usize>,
}

impl<'a, 's, 'c> Search<'a, 's, 'c> {
    fn view(&self, func: FuncId) -> Option<&'a View<'s, 'c>> {
        self.index.get(&func).map(|&n| &self.views[n])
    }

    /// Does every caller pass a new block, or null? Adds the calls that make them.
    fn is_new(&self, func: FuncId, n: u16, levels: usize, made: &mut Vec<Made>) -> bool {
        let Some(levels) = levels.checked_sub(1) else {
            return false;
        };
        let calls = self.callers.of(func);
        let mut all = calls.iter();
        !calls.is_empty()
            && !self.callers.is_hidden(func)
            && all.all(|&(caller, call)| {
                let argument = self.view(caller).and_then(|view| {
                    let arg = args_of(view.body, call).get(usize::from(n))?;
                    Some((view, *arg))
                });
                argument.is_some_and(|(view, arg)| self.is_given(view, call, arg, levels, made))
            })
    }

    fn is_given(
        &self,
        view: &View<'_, '_>,
        call: InstId,
        arg: Operand,
        levels: usize,
        made: &mut Vec<Made>,
    ) -> bool {
        if view.is_null(arg) {
            return true;
        }
        if let Some(n) = view.parameter(arg) {
            let value = view.body.param(usize::from(n));
            return view.stays(value, call) && self.is_new(view.func, n, levels, made);
        }
        let maker = view.maker(arg).filter(|_| view.is_null_or_new(arg));
        let is_whole = |maker: &Made| {
            let given = view.given_block(arg, *maker, call);
            given.is_some_and(|cursors| cursors.is_empty())
        };
        let maker = maker.filter(is_whole);
        made.extend(maker);
        maker.is_some()
    }
}
