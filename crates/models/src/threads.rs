//! Which library functions start a thread, and with what?

/// A function that runs another one beside its caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Starter {
    pub name: &'static str,
    /// The parameter that is the function to run, and the one that this function gets.
    pub routine: usize,
    pub argument: usize,
}

const STARTERS: &[Starter] = &[
    Starter {
        name: "pthread_create",
        routine: 2,
        argument: 3,
    },
    Starter {
        name: "thrd_create",
        routine: 1,
        argument: 2,
    },
    Starter {
        name: "g_thread_new",
        routine: 1,
        argument: 2,
    },
];

impl Starter {
    pub fn of(name: &str) -> Option<Starter> {
        STARTERS.iter().find(|s| s.name == name).copied()
    }
}
