//! What this kernel can hold.

use std::sync::OnceLock;

use landlock::{LandlockStatus, RestrictionStatus, RulesetStatus};
use legation_core::config::Network;

use super::raise::{blank, in_words};

/// Landlock as it is here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// The version of its interface; nothing else is known to work. 0: there is none.
    pub abi: u32,
    /// Why a fence cannot be raised, where it cannot.
    pub obstacle: Option<String>,
}

/// Something that a fence may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Its name, for programs.
    pub name: &'static str,
    /// What it says.
    pub what: &'static str,
    /// The version from which it holds; none does so far where there is none.
    since: Option<u32>,
    /// What is missing without it.
    gap: &'static str,
    weight: Weight,
}

/// Whether a fence is worth its name without a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Weight {
    /// It is not.
    Needed,
    /// Only where the network is denied.
    NeededOffline,
    /// It is; that it is missing is told where the network is denied, on every kernel.
    ToldOffline,
    /// It is; what is missing is told.
    Wanted,
}

/// Whether a rule holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// It does.
    Yes,
    /// It does not, for this reason.
    No(&'static str),
}

const RULES: &[Rule] = &[
    Rule {
        name: "read",
        what: "no reading of other workspaces, the journal, tokens and ignored files",
        since: Some(1),
        gap: "files cannot be hidden without Landlock (Linux 5.13)",
        weight: Weight::Needed,
    },
    Rule {
        name: "write",
        what: "no writing outside the workspace, TMPDIR and `sandbox.writable`",
        since: Some(3),
        gap: "files of others can be emptied before Landlock 3 (Linux 6.2)",
        weight: Weight::Needed,
    },
    Rule {
        name: "move",
        what: "moves and links between folders, inside what may be written only",
        since: Some(2),
        gap: "no file can change its folder, not even inside, before Landlock 2 (Linux 5.19)",
        weight: Weight::Wanted,
    },
    Rule {
        name: "devices",
        what: "no control of devices other than terminals",
        since: Some(5),
        gap: "devices can be controlled before Landlock 5 (Linux 6.10)",
        weight: Weight::Wanted,
    },
    Rule {
        name: "network",
        what: "no TCP where `sandbox.network` is `deny`",
        since: Some(4),
        gap: "the network cannot be denied before Landlock 4 (Linux 6.7)",
        weight: Weight::NeededOffline,
    },
    Rule {
        name: "signals",
        what: "no signals to the engine, the keeper and other attempts",
        since: Some(6),
        gap: "other processes can be signalled before Landlock 6 (Linux 6.12)",
        weight: Weight::Wanted,
    },
    Rule {
        name: "abstract_sockets",
        what: "no sockets without a file outside the attempt",
        since: Some(6),
        gap: "sockets without a file can be reached before Landlock 6 (Linux 6.12)",
        weight: Weight::Wanted,
    },
    Rule {
        name: "memory",
        what: "no look into the memory and environment of other processes",
        since: Some(1),
        gap: "other processes can be looked into without Landlock (Linux 5.13)",
        weight: Weight::Wanted,
    },
    Rule {
        name: "modes",
        what: "no changing of modes, owners and times outside",
        since: None,
        gap: "Landlock cannot refuse chmod, chown and touch",
        weight: Weight::Wanted,
    },
    Rule {
        name: "udp",
        what: "no UDP where `sandbox.network` is `deny`",
        since: None,
        gap: "Landlock knows TCP only: UDP is not denied",
        weight: Weight::ToldOffline,
    },
    Rule {
        name: "socket_files",
        what: "no talking to services that listen on a socket file",
        since: None,
        gap: "Landlock cannot tell the engine's socket from others yet",
        weight: Weight::Wanted,
    },
];

impl Kernel {
    /// This kernel. It is asked once: a thread is fenced in and thrown away.
    pub fn current() -> &'static Self {
        static KERNEL: OnceLock<Kernel> = OnceLock::new();
        KERNEL.get_or_init(|| {
            let tried = std::thread::spawn(|| {
                let ruleset = blank(Network::Allow)?;
                ruleset.restrict_self()
            });
            match tried.join() {
                Ok(Ok(status)) => Self::told(&status),
                Ok(Err(error)) => Self { abi: 0, obstacle: Some(in_words(&error)) },
                Err(_) => Self { abi: 0, obstacle: Some("its trial broke off".to_owned()) },
            }
        })
    }

    /// The kernel, by what it says of a thread that it was asked to fence in.
    pub(super) fn told(status: &RestrictionStatus) -> Self {
        let (abi, obstacle) = match status.landlock {
            LandlockStatus::NotEnabled => (0, Some("Landlock is not enabled on this kernel")),
            LandlockStatus::NotImplemented => (0, Some("this kernel has no Landlock")),
            LandlockStatus::Available { effective_abi, kernel_abi } => {
                let known = effective_abi as u32;
                (kernel_abi.map_or(known, i32::unsigned_abs), None)
            }
        };
        let stands = status.no_new_privs && status.ruleset != RulesetStatus::NotEnforced;
        let refused = (!stands).then_some("the kernel did not raise it");
        Self { abi, obstacle: obstacle.or(refused).map(str::to_owned) }
    }

    /// Whether a fence can be raised at all.
    pub fn can_fence(&self) -> bool {
        self.obstacle.is_none()
    }

    /// Every rule, and whether it holds here.
    pub fn rules(&self) -> impl Iterator<Item = (&'static Rule, Held)> + '_ {
        RULES.iter().map(|rule| (rule, self.holds(rule)))
    }

    fn holds(&self, rule: &Rule) -> Held {
        let is_known = rule.since.is_some_and(|since| self.abi >= since);
        if is_known && self.can_fence() { Held::Yes } else { Held::No(rule.gap) }
    }

    /// Why a fence here is not worth its name; none if it is.
    pub fn unfit(&self, network: Network) -> Option<String> {
        if let Some(obstacle) = &self.obstacle {
            return Some(obstacle.clone());
        }
        let needed = |rule: &Rule| match rule.weight {
            Weight::Needed => true,
            Weight::NeededOffline => network == Network::Deny,
            Weight::Wanted | Weight::ToldOffline => false,
        };
        let mut rules = self.rules().filter(|(rule, _)| needed(rule));
        rules.find_map(|(_, held)| match held {
            Held::Yes => None,
            Held::No(gap) => Some(gap.to_owned()),
        })
    }

    /// What was asked for, or a newer kernel would hold, and this one does not, in words.
    pub fn gaps(&self, network: Network) -> Vec<String> {
        let asked = |rule: &Rule| match rule.weight {
            Weight::Needed | Weight::Wanted => rule.since.is_some(),
            Weight::NeededOffline | Weight::ToldOffline => network == Network::Deny,
        };
        let rules = RULES.iter().filter(|rule| asked(rule));
        let missing = rules.filter(|rule| self.holds(rule) != Held::Yes);
        missing.map(|rule| rule.gap.to_owned()).collect()
    }
}
