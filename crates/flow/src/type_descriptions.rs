//! Question: does a handler for one type catch an exception of another?
//!
//! C++ describes every type that is thrown or caught by a variable (`_ZTI…`), and that of a class points to those of its bases. The
//! library's own classes are described elsewhere; of those the standard tells the bases.

use drip_program::{GlobalId, Init, Program, Scalar};

/// How many bases a class has above it, one by one; beyond that nothing is known.
const MAX_BASES: usize = 64;

/// The library's exceptions, each with the class that it is derived from.
const LIBRARY: &[(&str, &str)] = &[
    ("_ZTISt12domain_error", "_ZTISt11logic_error"),
    ("_ZTISt16invalid_argument", "_ZTISt11logic_error"),
    ("_ZTISt12length_error", "_ZTISt11logic_error"),
    ("_ZTISt12out_of_range", "_ZTISt11logic_error"),
    ("_ZTISt12future_error", "_ZTISt11logic_error"),
    ("_ZTISt11range_error", "_ZTISt13runtime_error"),
    ("_ZTISt14overflow_error", "_ZTISt13runtime_error"),
    ("_ZTISt15underflow_error", "_ZTISt13runtime_error"),
    ("_ZTISt12system_error", "_ZTISt13runtime_error"),
    ("_ZTINSt8ios_base7failureB5cxx11E", "_ZTISt12system_error"),
    ("_ZTISt20bad_array_new_length", "_ZTISt9bad_alloc"),
    ("_ZTISt11logic_error", "_ZTISt9exception"),
    ("_ZTISt13runtime_error", "_ZTISt9exception"),
    ("_ZTISt9bad_alloc", "_ZTISt9exception"),
    ("_ZTISt8bad_cast", "_ZTISt9exception"),
    ("_ZTISt10bad_typeid", "_ZTISt9exception"),
    ("_ZTISt13bad_exception", "_ZTISt9exception"),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Match {
    Yes,
    No,
    /// Not all bases can be seen.
    Perhaps,
}

/// Does a handler for `caught` catch what is of type `thrown`?
pub(crate) fn catches(program: &Program, caught: GlobalId, thrown: GlobalId) -> Match {
    let name = |ty: GlobalId| program.strings.get(program.globals[ty].name);
    let (mut seen, mut open) = (vec![name(thrown)], vec![name(thrown)]);
    let mut descriptions = vec![thrown];
    let mut is_hidden = false;
    while let Some(at) = open.pop() {
        if at == name(caught) {
            return Match::Yes;
        }
        let described = descriptions.iter().find(|&&ty| name(ty) == at).copied();
        let init = described.map(|ty| &program.globals[ty].init);
        let mut bases: Vec<&str> = Vec::new();
        match init {
            Some(Init::Slots { slots, .. }) => {
                for &(_, slot) in slots {
                    if let Scalar::Global { global, .. } = slot
                        && name(global).starts_with("_ZTI")
                    {
                        descriptions.push(global);
                        bases.push(name(global));
                    }
                }
            }
            _ => {
                bases.extend(
                    LIBRARY
                        .iter()
                        .filter(|base| base.0 == at)
                        .map(|base| base.1),
                );
                let is_known = !bases.is_empty() || at == "_ZTISt9exception" || is_plain(at);
                is_hidden |= !is_known;
            }
        }
        // Pointers convert to those of bases and to `void *`, which their descriptions do not tell.
        is_hidden |= at.starts_with("_ZTIP") || seen.len() > MAX_BASES;
        bases.retain(|base| !seen.contains(base));
        seen.extend(&bases);
        open.extend(bases.into_iter().filter(|_| !is_hidden));
    }
    match is_hidden {
        true => Match::Perhaps,
        false => Match::No,
    }
}

/// Is it the description of a number (`_ZTIi`)?
fn is_plain(name: &str) -> bool {
    let code = name.strip_prefix("_ZTI").unwrap_or_default();
    code.len() == 1 && code.bytes().all(|c| c.is_ascii_lowercase())
}
