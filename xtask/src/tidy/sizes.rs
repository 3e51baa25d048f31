//! Files and functions stay small enough to be read.
//!
//! Lines of test code (integration tests, `#[cfg(test)]` items) don't count. A function's length is
//! that from its `fn` to its closing brace; attributes and doc comments don't count.
//! Known limit: functions made by macros are not seen.

use super::tree::SourceFile;
use super::{Findings, Tree};
use proc_macro2::LineColumn;
use std::ops::RangeInclusive;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

const FILE_GOAL: usize = 400;
const FILE_LIMIT: usize = 800;
const FUNCTION_GOAL: usize = 60;
const FUNCTION_LIMIT: usize = 120;

pub fn check(tree: &Tree, findings: &mut Findings) {
    for file in tree.rust_files().filter(|f| !f.is_test_code()) {
        match syn::parse_file(&file.text) {
            Ok(parsed) => check_file(file, &parsed, findings),
            Err(error) => findings.error(
                format_args!("{}:{}", file.path, error.span().start().line),
                format_args!("cannot parse: {error}"),
            ),
        }
    }
}

fn check_file(file: &SourceFile, parsed: &syn::File, findings: &mut Findings) {
    let mut survey = Survey::default();
    survey.visit_file(parsed);
    let tests: usize = survey.tests.iter().map(|r| r.clone().count()).sum();
    let lines = file.text.lines().count().saturating_sub(tests);
    if lines > FILE_LIMIT {
        findings.error(
            &file.path,
            format_args!("{lines} lines without tests; the limit is {FILE_LIMIT}"),
        );
    } else if lines > FILE_GOAL {
        findings.note(
            &file.path,
            format_args!("{lines} lines without tests; the goal is {FILE_GOAL}"),
        );
    }
    for function in survey.functions {
        let length = function.lines.clone().count();
        let place = format!("{}:{}", file.path, function.lines.start());
        let name = function.name;
        if length > FUNCTION_LIMIT {
            findings.error(
                place,
                format_args!("`{name}` has {length} lines; the limit is {FUNCTION_LIMIT}"),
            );
        } else if length > FUNCTION_GOAL {
            findings.note(
                place,
                format_args!("`{name}` has {length} lines; the goal is {FUNCTION_GOAL}"),
            );
        }
    }
}

struct Function {
    name: String,
    lines: RangeInclusive<usize>,
}

/// Lines of functions and of test code in one file.
#[derive(Default)]
struct Survey {
    functions: Vec<Function>,
    tests: Vec<RangeInclusive<usize>>,
}

impl Survey {
    fn function(&mut self, signature: &syn::Signature, body: &syn::Block) {
        self.functions.push(Function {
            name: signature.ident.to_string(),
            lines: lines(signature.span().start(), body.span().end()),
        });
    }
}

impl<'ast> Visit<'ast> for Survey {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        let attributes = match item {
            syn::Item::Mod(m) => m.attrs.as_slice(),
            syn::Item::Fn(f) => f.attrs.as_slice(),
            syn::Item::Impl(i) => i.attrs.as_slice(),
            syn::Item::Use(u) => u.attrs.as_slice(),
            _ => &[],
        };
        if attributes.iter().any(is_test_attribute) {
            let span = item.span();
            self.tests.push(lines(span.start(), span.end()));
        } else {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.function(&item.sig, &item.block);
        visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.function(&item.sig, &item.block);
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        if let Some(body) = &item.default {
            self.function(&item.sig, body);
        }
        visit::visit_trait_item_fn(self, item);
    }
}

/// `#[test]` or `#[cfg(test)]`.
fn is_test_attribute(attribute: &syn::Attribute) -> bool {
    match &attribute.meta {
        syn::Meta::Path(path) => path.is_ident("test"),
        syn::Meta::List(list) => list.path.is_ident("cfg") && list.tokens.to_string() == "test",
        syn::Meta::NameValue(_) => false,
    }
}

fn lines(start: LineColumn, end: LineColumn) -> RangeInclusive<usize> {
    start.line..=end.line
}

#[cfg(test)]
mod tests {
    use crate::tidy::tests::errors_of;

    fn function(name: &str, lines: usize) -> String {
        format!(
            "/// Does it.\nfn {name}() {{\n{}}}\n",
            "step();\n".repeat(lines - 2)
        )
    }

    #[test]
    fn long_functions_are_noted_and_then_fail() {
        let text = function("short", 60) + &function("long", 61) + &function("endless", 121);
        let (errors, notes) = errors_of(super::check, &[("src/a.rs", &text)]);
        assert_eq!(notes, ["src/a.rs:63: `long` has 61 lines; the goal is 60"]);
        assert_eq!(
            errors,
            ["src/a.rs:125: `endless` has 121 lines; the limit is 120"]
        );
    }

    #[test]
    fn methods_count_and_nested_tests_do_not() {
        let method = function("m", 121);
        let text = format!(
            "struct S;\nimpl S {{\n{method}}}\n#[cfg(test)]\nmod tests {{\n{}}}\n",
            function("t", 500)
        );
        let (errors, notes) = errors_of(super::check, &[("src/a.rs", &text)]);
        assert_eq!(errors.len(), 1, "{errors:?}");
        assert!(notes.is_empty(), "{notes:?}");
    }

    #[test]
    fn long_files_fail_without_their_tests() {
        let code = |n: usize| "const A: u8 = 1;\n".repeat(n);
        let tests = format!("#[cfg(test)]\nmod tests {{\n{}}}\n", code(900));
        let (errors, notes) = errors_of(
            super::check,
            &[
                ("src/fits.rs", &(code(400) + &tests)),
                ("src/large.rs", &(code(401) + &tests)),
                ("src/too_large.rs", &code(801)),
                ("tests/any.rs", &code(2000)),
            ],
        );
        assert_eq!(
            errors,
            ["src/too_large.rs: 801 lines without tests; the limit is 800"]
        );
        assert_eq!(
            notes,
            ["src/large.rs: 401 lines without tests; the goal is 400"]
        );
    }

    #[test]
    fn what_does_not_parse_fails() {
        let (errors, _) = errors_of(super::check, &[("src/a.rs", "fn {")]);
        assert!(
            errors[0].starts_with("src/a.rs:1: cannot parse"),
            "{errors:?}"
        );
    }
}
