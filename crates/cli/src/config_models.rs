//! The project's own functions: `[[allocator]]` and `[[function]]` of drip.toml → models in the library's language.
//!
//! ```toml
//! [[allocator]]
//! alloc = ["pool_alloc", "pool_dup"]   # result: a new block, or null
//! free = "pool_free"
//! realloc = "pool_realloc"
//! arg = 1                              # free and realloc get the block as their second argument
//! kind = "heap"                        # or "nonnull" (alloc never returns null), "arena" (never freed one by one)
//! ```
//! A family is named by its deallocator, so reports can name it.

use anyhow::{bail, ensure};
use serde::Deserialize;

/// One name or several.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(untagged)]
pub enum Names {
    #[default]
    None,
    One(String),
    Many(Vec<String>),
}

impl Names {
    fn list(&self) -> Vec<&str> {
        match self {
            Names::None => Vec::new(),
            Names::One(name) => vec![name],
            Names::Many(names) => names.iter().map(String::as_str).collect(),
        }
    }
}

#[derive(Debug, Deserialize)]
pub struct Allocator {
    #[serde(default)]
    alloc: Names,
    #[serde(default)]
    free: Names,
    #[serde(default)]
    realloc: Names,
    #[serde(default)]
    kind: Option<String>,
    /// Which argument of `free` and `realloc` is the block, from 0.
    #[serde(default)]
    arg: u16,
}

#[derive(Debug, Deserialize)]
pub struct FunctionModel {
    #[serde(default)]
    name: Names,
    /// Arguments that the function keeps or frees, from 0.
    #[serde(default)]
    takes: Vec<u16>,
    /// Arguments that it only looks at. That holds for all that it doesn't take; naming them is for the reader.
    #[serde(default)]
    borrows: Vec<u16>,
    /// `owned` (the caller must free it), `borrowed`, or `argN`.
    #[serde(default)]
    returns: Option<String>,
    #[serde(default)]
    noreturn: bool,
}

/// Text for [`drip_models::Library::add`]; empty if there is nothing to say.
pub fn models_toml(
    allocators: &[Allocator],
    functions: &[FunctionModel],
) -> anyhow::Result<String> {
    let mut out = String::new();
    for allocator in allocators {
        allocator_models(allocator, &mut out)?;
    }
    for function in functions {
        function_model(function, &mut out)?;
    }
    Ok(out)
}

fn allocator_models(allocator: &Allocator, out: &mut String) -> anyhow::Result<()> {
    let (alloc, free, realloc) = (
        allocator.alloc.list(),
        allocator.free.list(),
        allocator.realloc.list(),
    );
    ensure!(
        !alloc.is_empty() || !free.is_empty() || !realloc.is_empty(),
        "an [[allocator]] needs at least one of alloc, free and realloc"
    );
    let arg = format!("arg{}", allocator.arg);
    let family = free.first().copied().unwrap_or("malloc");
    let may_fail = match allocator.kind.as_deref() {
        None | Some("heap") => true,
        Some("nonnull") => false,
        Some("arena") => {
            // Blocks live as long as their arena: nobody has to free them.
            model(out, &[alloc, realloc, free].concat(), None, &["ret = any"]);
            return Ok(());
        }
        Some(kind) => bail!("kind is `{kind}`; it has to be heap, nonnull or arena"),
    };
    let fails = |outcomes: &[&str], failure: &str| -> Vec<String> {
        let failing = may_fail.then(|| failure.to_owned());
        outcomes
            .iter()
            .map(|o| o.to_string())
            .chain(failing)
            .collect()
    };
    model(
        out,
        &alloc,
        Some(family),
        &fails(&["ret = fresh0"], "ret = null"),
    );
    let freed = [
        format!("{arg} != 0 => free {arg}; ret = any"),
        format!("{arg} == 0 => ret = any"),
    ];
    model(out, &free, Some(family), &freed);
    let moved = format!("{arg} != 0 => ret = fresh0; free {arg}; copy {arg} to fresh0");
    let made = format!("{arg} == 0 => ret = fresh0");
    let mut outcomes = fails(&[&moved], &format!("{arg} != 0 => ret = null"));
    outcomes.extend(fails(&[&made], &format!("{arg} == 0 => ret = null")));
    model(out, &realloc, Some(family), &outcomes);
    Ok(())
}

fn function_model(function: &FunctionModel, out: &mut String) -> anyhow::Result<()> {
    let names = function.name.list();
    ensure!(!names.is_empty(), "a [[function]] needs a name");
    if let Some(both) = function.takes.iter().find(|n| function.borrows.contains(n)) {
        bail!(
            "function `{}` can't both take and borrow argument {both}",
            names.join(", ")
        );
    }
    if function.noreturn {
        out.push_str(&format!(
            "[[model]]\nnames = {}\nnever_returns = true\n",
            list(&names)
        ));
        return Ok(());
    }
    let taken: String = function
        .takes
        .iter()
        .map(|n| format!("; escape arg{n} to unknown"))
        .collect();
    let results: Vec<String> = match function.returns.as_deref() {
        None | Some("borrowed") => vec!["ret = any".to_owned()],
        Some("owned") => vec!["ret = fresh0".to_owned(), "ret = null".to_owned()],
        Some(arg)
            if arg
                .strip_prefix("arg")
                .is_some_and(|n| n.parse::<u16>().is_ok()) =>
        {
            vec![format!("ret = {arg}")]
        }
        Some(other) => bail!("returns is `{other}`; it has to be owned, borrowed or argN"),
    };
    let outcomes: Vec<String> = results.iter().map(|r| format!("{r}{taken}")).collect();
    model(out, &names, None, &outcomes);
    Ok(())
}

fn model(out: &mut String, names: &[&str], family: Option<&str>, outcomes: &[impl AsRef<str>]) {
    if names.is_empty() {
        return;
    }
    out.push_str(&format!("[[model]]\nnames = {}\n", list(names)));
    if let Some(family) = family {
        out.push_str(&format!("family = {}\n", quoted(family)));
    }
    let outcomes: Vec<&str> = outcomes.iter().map(AsRef::as_ref).collect();
    out.push_str(&format!("outcomes = {}\n", list(&outcomes)));
}

fn list(items: &[&str]) -> String {
    let quoted: Vec<String> = items.iter().map(|item| quoted(item)).collect();
    format!("[{}]", quoted.join(", "))
}

fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use drip_models::Library;

    #[derive(Deserialize)]
    struct File {
        #[serde(default)]
        allocator: Vec<Allocator>,
        #[serde(default)]
        function: Vec<FunctionModel>,
    }

    fn library(text: &str) -> anyhow::Result<Library> {
        let file: File = toml::from_str(text)?;
        let models = models_toml(&file.allocator, &file.function)?;
        let mut library = Library::builtin()?;
        library.add("drip.toml", &models)?;
        Ok(library)
    }

    fn shown(library: &Library, name: &str) -> String {
        let summary = library.find(name).unwrap();
        let outcomes: Vec<String> = summary.outcomes.iter().map(ToString::to_string).collect();
        outcomes.join(" | ")
    }

    #[test]
    fn an_allocator_is_like_malloc_with_its_own_family() {
        let library =
            library("[[allocator]]\nalloc = ['mk', 'dup']\nfree = 'rm'\nrealloc = 'grow'\narg = 1")
                .unwrap();
        assert_eq!(shown(&library, "dup"), shown(&library, "malloc"));
        assert_eq!(
            shown(&library, "rm"),
            shown(&library, "free").replace("arg0", "arg1")
        );
        let grow = shown(&library, "grow");
        assert!(grow.contains("free arg1; copy arg1 to fresh0"), "{grow}");
        assert!(!grow.contains("arg0"), "{grow}");
        let family = library.find("mk").unwrap().fresh[0].family;
        assert_eq!(library.families.name(family), "rm");
    }

    #[test]
    fn kinds_change_what_alloc_returns() {
        let text = "[[allocator]]\nalloc = 'xm'\nkind = 'nonnull'\n[[allocator]]\nalloc = 'am'\nkind = 'arena'";
        let library = library(text).unwrap();
        assert_eq!(library.find("xm").unwrap().outcomes.len(), 1);
        assert!(library.find("am").unwrap().fresh.is_empty());
    }

    #[test]
    fn functions_take_return_and_end() {
        let text = "[[function]]\nname = 'keep'\ntakes = [1]\nreturns = 'arg0'\n\
                    [[function]]\nname = 'die'\nnoreturn = true\n\
                    [[function]]\nname = 'get'\nreturns = 'owned'";
        let library = library(text).unwrap();
        assert_eq!(
            shown(&library, "keep"),
            "ret = arg0; escape arg1 to unknown"
        );
        assert!(!library.find("die").unwrap().returns());
        assert_eq!(library.find("get").unwrap().fresh.len(), 1);
    }

    #[test]
    fn nonsense_is_refused() {
        for text in [
            "[[allocator]]\nkind = 'heap'",
            "[[allocator]]\nalloc = 'a'\nkind = 'stack'",
            "[[function]]\ntakes = [0]",
            "[[function]]\nname = 'f'\nreturns = 'argx'",
            "[[function]]\nname = 'f'\ntakes = [0]\nborrows = [0]",
        ] {
            assert!(library(text).is_err(), "{text}");
        }
    }
}
