//! What does each rule mean? The texts for `drip explain`, SARIF's rule table and the reports.

use drip_engines::{Confidence, Rule};

/// Everything there is to say on a rule.
#[derive(Clone, Copy, Debug)]
pub struct RuleText {
    /// CamelCase, as SARIF wants names.
    pub name: &'static str,
    pub short: &'static str,
    pub full: &'static str,
    pub bad: &'static str,
    pub good: &'static str,
    pub advice: &'static str,
    /// CVSS-like, 0 to 10; a string because GitHub reads it as one.
    pub security_severity: &'static str,
    pub on_by_default: bool,
}

const D001: RuleText = RuleText {
    name: "MemoryNeverFreed",
    short: "Memory is never freed",
    full: "A block is allocated and the last pointer to it goes out of scope without a free on any path: \
           nobody can free it any more.",
    bad: "int count(const char *text) {\n    char *copy = strdup(text);\n    return scan(copy);      // the copy is lost\n}",
    good: "int count(const char *text) {\n    char *copy = strdup(text);\n    int n = scan(copy);\n    free(copy);\n    return n;\n}",
    advice: "Free the block before its last pointer goes out of scope, or hand it to somebody who does.",
    security_severity: "5.5",
    on_by_default: true,
};

const D002: RuleText = RuleText {
    name: "MemoryNotFreedOnSomePath",
    short: "Memory is not freed on some path",
    full: "A block is freed or handed over on some paths through the function, but on another path, often an early \
           return after an error, its last pointer goes out of scope.",
    bad: "char *key = strdup(name);\nif (!valid(value))\n    return -1;              // key is lost\nstore(key, value);\nreturn 0;",
    good: "char *key = strdup(name);\nif (!valid(value)) {\n    free(key);\n    return -1;\n}\nstore(key, value);\nreturn 0;",
    advice: "Free the block on the reported path too; one exit label that frees everything helps.",
    security_severity: "5.5",
    on_by_default: true,
};

const D003: RuleText = RuleText {
    name: "LastReferenceOverwritten",
    short: "The last reference to memory is overwritten",
    full: "The variable or field that holds the only pointer to a block gets another value while the block is still \
           allocated: by an assignment, by the next turn of a loop, or by the null that a failed realloc returns.",
    bad: "buffer = realloc(buffer, size);   // on failure the old block is lost\nif (!buffer)\n    return -1;",
    good: "char *larger = realloc(buffer, size);\nif (!larger) {\n    free(buffer);\n    return -1;\n}\nbuffer = larger;",
    advice: "Free the old block before the assignment, or keep its pointer in a second variable until it is clear that it is \
             no longer needed.",
    security_severity: "5.5",
    on_by_default: true,
};

const D004: RuleText = RuleText {
    name: "MemoryLostWithItsOwner",
    short: "Memory is lost when its owner is freed",
    full: "An object is freed while one of its fields holds the only pointer to another block; with the object, the way to that \
           block is gone.",
    bad: "free(user);                // user->name is lost",
    good: "free(user->name);\nfree(user);",
    advice: "Free what the fields hold before the object itself, best in one function that destroys the whole structure.",
    security_severity: "5.5",
    on_by_default: true,
};

const D005: RuleText = RuleText {
    name: "MemoryHeldAtProgramEnd",
    short: "Memory is still held when the program ends",
    full: "`main` returns while a block is still allocated and reachable. The operating system takes it back, so this matters \
           only to those who want clean leak checker runs or who embed the code elsewhere.",
    bad: "int main(void) {\n    struct config *config = load();\n    return run(config);\n}",
    good: "int main(void) {\n    struct config *config = load();\n    int code = run(config);\n    config_free(config);\n    return code;\n}",
    advice: "Free it before `main` returns, or leave the rule off: it has to be selected (`--select ALL`).",
    security_severity: "2.0",
    on_by_default: false,
};

pub fn rule_text(rule: Rule) -> &'static RuleText {
    match rule {
        Rule::D001 => &D001,
        Rule::D002 => &D002,
        Rule::D003 => &D003,
        Rule::D004 => &D004,
        Rule::D005 => &D005,
    }
}

/// `D003` or `d003`.
pub fn parse_rule(text: &str) -> Option<Rule> {
    Rule::ALL
        .into_iter()
        .find(|rule| rule.code().eq_ignore_ascii_case(text))
}

pub fn confidence_name(confidence: Confidence) -> &'static str {
    match confidence {
        Confidence::Low => "low",
        Confidence::Medium => "medium",
        Confidence::High => "high",
    }
}

pub fn parse_confidence(text: &str) -> Option<Confidence> {
    [Confidence::Low, Confidence::Medium, Confidence::High]
        .into_iter()
        .find(|&c| confidence_name(c).eq_ignore_ascii_case(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_rules_read_back() {
        for rule in Rule::ALL {
            assert_eq!(parse_rule(rule.code()), Some(rule));
            assert!(rule_text(rule).security_severity.parse::<f32>().is_ok());
        }
        assert_eq!(parse_rule("d002"), Some(Rule::D002));
        assert_eq!(parse_rule("D009"), None);
        assert_eq!(parse_confidence("High"), Some(Confidence::High));
        assert_eq!(parse_confidence("higher"), None);
    }
}
