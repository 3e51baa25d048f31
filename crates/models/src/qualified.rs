//! Question: which C++ function is this symbol, apart from its template arguments?
//!
//! `std::list<char *>::push_back(char *const &)` is `std::list::push_back` for models: what containers do with their elements does
//! not depend on the elements' type, as long as these are plain pointers. Inline namespaces of the library's versions are left out.

use cpp_demangle::{DemangleOptions, Symbol};

/// Namespaces and tags that only tell versions of the library apart.
const VERSIONS: &[&str] = &["__cxx11::", "[abi:cxx11]"];

/// A C++ function, by its name in the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Qualified {
    /// With parameters, without template arguments: `std::list::push_back(char* const&)`.
    pub signature: String,
    /// Its class is a template, and the elements are plain pointers, or pairs with one.
    pub holds_pointers: bool,
}

impl Qualified {
    /// What a mangled symbol stands for; nothing for C functions and what can't be told.
    pub fn of(symbol: &str) -> Option<Qualified> {
        if !symbol.starts_with("_Z") {
            return None;
        }
        let options = DemangleOptions::new().no_return_type();
        let mut text = Symbol::new(symbol)
            .ok()?
            .demangle_with_options(&options)
            .ok()?;
        for version in VERSIONS {
            text = text.replace(version, "");
        }
        let (signature, arguments) = without_templates(&text)?;
        Some(Qualified {
            signature,
            holds_pointers: arguments.iter().take(2).any(|a| is_pointer_element(a)),
        })
    }

    /// Without the parameters: `std::list::push_back`.
    pub fn name(&self) -> &str {
        let end = self.signature.find('(');
        end.map_or(&self.signature, |end| &self.signature[..end])
    }

    /// The class or namespace that the function is in: `std::list`.
    pub fn scope(&self) -> &str {
        let name = self.name();
        name.rfind("::").map_or("", |end| &name[..end])
    }

    /// Is it a constructor (`A::A`)?
    pub fn is_constructor(&self) -> bool {
        let (class, name) = self.class_and_name();
        class.is_some_and(|class| name == class)
    }

    /// Is it a destructor (`A::~A`)?
    pub fn is_destructor(&self) -> bool {
        let (class, name) = self.class_and_name();
        class.is_some() && name.strip_prefix('~') == class
    }

    /// Is it the C++ library's?
    pub fn is_of_library(&self) -> bool {
        let mut scopes = ["std::", "__gnu_cxx::"].iter();
        scopes.any(|scope| self.signature.starts_with(scope))
    }

    fn class_and_name(&self) -> (Option<&str>, &str) {
        let mut parts = self.name().rsplit("::");
        let name = parts.next().unwrap_or_default();
        (parts.next(), name)
    }
}

/// The text without what stands in angle brackets, and the parts of the first such bracket. Nothing if the brackets don't match, as in
/// `operator<`.
fn without_templates(text: &str) -> Option<(String, Vec<String>)> {
    let mut kept = String::new();
    let mut depth = 0usize;
    let mut first: Option<String> = None;
    let mut is_first_over = false;
    for c in text.chars() {
        match c {
            '<' => depth += 1,
            '>' if depth > 0 => {
                depth -= 1;
                is_first_over |= depth == 0;
            }
            _ if depth == 0 => kept.push(c),
            _ => {}
        }
        let is_inside = depth > 1 || depth == 1 && c != '<';
        if is_inside && !is_first_over {
            first.get_or_insert_default().push(c);
        }
    }
    (depth == 0).then(|| (kept, first.map_or_else(Vec::new, |f| split_arguments(&f))))
}

fn split_arguments(text: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut depth = 0usize;
    for c in text.chars() {
        match c {
            '<' | '(' => depth += 1,
            '>' | ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        match (c, depth) {
            (',', 0) => parts.push(String::new()),
            _ => parts.last_mut().expect("never empty").push(c),
        }
    }
    parts.iter().map(|part| part.trim().to_owned()).collect()
}

/// Is a type a plain pointer, or a pair with one?
fn is_pointer_element(argument: &str) -> bool {
    let plain = argument.trim_end_matches(" const");
    let pair = plain
        .strip_prefix("std::pair<")
        .and_then(|inside| inside.strip_suffix('>'));
    match pair {
        Some(inside) => split_arguments(inside)
            .iter()
            .any(|part| is_pointer_element(part)),
        None => plain.ends_with('*'),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_without_template_arguments() {
        let of = |symbol: &str| Qualified::of(symbol).unwrap();
        let push = of("_ZNSt7__cxx114listIPcSaIS1_EE9push_backERKS1_");
        assert_eq!(push.signature, "std::list::push_back(char* const&)");
        assert_eq!(
            (push.name(), push.scope()),
            ("std::list::push_back", "std::list")
        );
        assert!(push.holds_pointers);
        let index = of("_ZNSt3mapIiPcSt4lessIiESaISt4pairIKiS0_EEEixEOi");
        assert_eq!(index.name(), "std::map::operator[]");
        assert!(index.holds_pointers);
        let of_strings = of(
            "_ZNSt6vectorINSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEESaIS5_EE9push_backEOS5_",
        );
        assert_eq!(of_strings.name(), "std::vector::push_back");
        assert!(!of_strings.holds_pointers);
        let next = of("_ZNSt17_Rb_tree_iteratorISt4pairIKiPcEEppEv");
        assert_eq!(next.signature, "std::_Rb_tree_iterator::operator++()");
        assert!(next.holds_pointers);
    }

    #[test]
    fn other_symbols_are_none() {
        assert_eq!(Qualified::of("malloc"), None);
        assert_eq!(Qualified::of("_Z"), None);
        assert_eq!(Qualified::of("_ZN1AltERKS_").map(|q| q.signature), None);
    }

    #[test]
    fn containers_of_containers_hold_no_pointers() {
        assert!(!is_pointer_element(
            "std::vector<char*, std::allocator<char*> >"
        ));
        assert!(is_pointer_element("std::pair<int const, char*>"));
        assert!(is_pointer_element("P*"));
        assert!(!is_pointer_element("void (*)(int)"));
    }
}
