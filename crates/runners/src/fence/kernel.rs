//! What this kernel can hold, by Landlock, by namespaces and by a filter of calls.

use std::sync::OnceLock;

use landlock::{LandlockStatus, RestrictionStatus, RulesetStatus};
use legation_core::config::{self, Network, Sandbox};

use super::namespaces::{self, Namespaces};
use super::raise::{blank, in_words};
use super::{audit, filter};

/// What the configuration asks of a fence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    /// Whether the network can be used.
    pub network: Network,
    /// Whether programs may not be started without it.
    pub required: bool,
}

impl Asked {
    /// What the configuration asks.
    pub fn of(sandbox: &Sandbox) -> Self {
        Self { network: sandbox.network, required: sandbox.fence == config::Fence::Require }
    }

    /// Whether it is worth a user namespace, where files of others belong to `nobody`.
    pub(super) fn is_worth_users(self) -> bool {
        self.required || self.network == Network::Deny
    }
}

/// What a fence is made of, as it is here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// The version of Landlock's interface; nothing else is known to work. 0: there is none.
    pub abi: u32,
    /// Why a fence cannot be raised, where it cannot.
    pub obstacle: Option<String>,
    /// The namespaces that programs can be given beside it.
    pub namespaces: Namespaces,
    /// Why shared memory is not among what these part from others, where that is so.
    pub unparted: Option<String>,
    /// Why calls cannot be filtered, where they cannot.
    pub unfiltered: Option<String>,
    /// Why nobody here is told what was refused, where that is so.
    pub untold: Option<String>,
}

/// Something that a fence may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Its name, for programs.
    pub name: &'static str,
    /// What it says.
    pub what: &'static str,
    by: By,
    /// What is missing without it.
    gap: &'static str,
    weight: Weight,
}

/// What holds a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    /// Landlock, from this version on.
    Landlock(u32),
    /// The same, and a filter of calls for what it does not take for TCP.
    LandlockAndFilter(u32),
    /// Both, or an empty network namespace.
    LandlockOrNetwork(u32),
    /// An empty network namespace.
    Network,
    /// A mount namespace.
    Mounts,
    /// A namespace of shared memory, which is entered with that of mounts.
    Parted,
    /// A filter of calls.
    Filter,
    /// The audit log, which Landlock writes to from this version on.
    Audit(u32),
    /// Nothing so far.
    Nothing,
}

/// Whether a fence is worth its name without a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Weight {
    /// It is not.
    Needed,
    /// Only where this is what the configuration says of the network.
    NeededWith(Network),
    /// It is; what is missing is told.
    Wanted,
    /// It is, and what is missing is the rule: it is told where somebody asks.
    Known,
}

/// Whether a rule holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Held {
    /// It does.
    Yes,
    /// It does not, for this reason.
    No(String),
}

const RULES: &[Rule] = &[
    Rule {
        name: "read",
        what: "no reading of other workspaces, the journal, tokens and ignored files",
        by: By::Landlock(1),
        gap: "files cannot be hidden without Landlock (Linux 5.13)",
        weight: Weight::Needed,
    },
    Rule {
        name: "write",
        what: "no writing outside the workspace, TMPDIR and `sandbox.writable`",
        by: By::Landlock(3),
        gap: "files of others can be emptied before Landlock 3 (Linux 6.2)",
        weight: Weight::Needed,
    },
    Rule {
        name: "move",
        what: "moves and links between folders, inside what may be written only",
        by: By::Landlock(2),
        gap: "no file can change its folder, not even inside, before Landlock 2 (Linux 5.19)",
        weight: Weight::Wanted,
    },
    Rule {
        name: "devices",
        what: "no control of devices other than terminals",
        by: By::Landlock(5),
        gap: "devices can be controlled before Landlock 5 (Linux 6.10)",
        weight: Weight::Wanted,
    },
    Rule {
        name: "network",
        what: "no TCP where `sandbox.network` is `deny`",
        by: By::LandlockOrNetwork(4),
        gap: "the network cannot be denied before Landlock 4 (Linux 6.7) or without a filter of \
              calls",
        weight: Weight::NeededWith(Network::Deny),
    },
    Rule {
        name: "ports",
        what: "no listening on ports of others where `sandbox.network` is `own_ports`",
        by: By::LandlockAndFilter(4),
        gap: "every TCP port can be listened on before Landlock 4 (Linux 6.7), and by Multipath \
              TCP without a filter of calls",
        weight: Weight::NeededWith(Network::OwnPorts),
    },
    Rule {
        name: "signals",
        what: "no signals to the engine, the keeper and other attempts",
        by: By::Landlock(6),
        gap: "other processes can be signalled before Landlock 6 (Linux 6.12)",
        weight: Weight::Wanted,
    },
    Rule {
        name: "limits",
        what: "no limits set for processes outside",
        by: By::Filter,
        gap: "other processes can be ended by their limits: Landlock is not asked, and there is \
              no filter of calls",
        weight: Weight::Wanted,
    },
    Rule {
        name: "abstract_sockets",
        what: "no sockets without a file outside the attempt",
        by: By::Landlock(6),
        gap: "sockets without a file can be reached before Landlock 6 (Linux 6.12)",
        weight: Weight::Wanted,
    },
    Rule {
        name: "memory",
        what: "no look into the memory and environment of other processes",
        by: By::Landlock(1),
        gap: "other processes can be looked into without Landlock (Linux 5.13)",
        weight: Weight::Wanted,
    },
    Rule {
        name: "keys",
        what: "no keys from the keyring of the user",
        by: By::Filter,
        gap: "keys in the user's keyring can be used: Landlock is not asked, and there is no \
              filter of calls",
        weight: Weight::Wanted,
    },
    Rule {
        name: "modes",
        what: "no changing of modes, owners and times outside",
        by: By::Mounts,
        gap: "Landlock does not refuse chmod, chown and touch, and there is no mount namespace",
        weight: Weight::Wanted,
    },
    Rule {
        name: "terminals",
        what: "no reading, writing and setting of terminals outside",
        by: By::Mounts,
        gap: "terminals of the user can be read and written: Landlock cannot tell them from those \
              that programs make, and there is no mount namespace",
        weight: Weight::Wanted,
    },
    Rule {
        name: "shared_memory",
        what: "no shared memory, semaphores and queues outside (`ipcs`)",
        by: By::Parted,
        gap: "shared memory, semaphores and queues outside can be used and removed: Landlock is \
              not asked, and there is no namespace of them",
        weight: Weight::Wanted,
    },
    Rule {
        name: "udp",
        what: "no UDP where `sandbox.network` is `deny`",
        by: By::Network,
        gap: "Landlock knows TCP only, and there is no network namespace: UDP is not denied",
        weight: Weight::NeededWith(Network::Deny),
    },
    Rule {
        name: "socket_files",
        what: "no talking to services that listen on a socket file",
        by: By::Nothing,
        gap: "Landlock cannot tell the engine's socket from others yet",
        weight: Weight::Known,
    },
    Rule {
        name: "refusals",
        what: "receipts name what Landlock refused",
        by: By::Audit(7),
        gap: "the kernel tells it to the machine's audit log, from Landlock 7 (Linux 6.15)",
        weight: Weight::Known,
    },
];

impl Kernel {
    /// This kernel. It is asked once: a thread is fenced in and thrown away.
    pub fn current() -> &'static Self {
        static KERNEL: OnceLock<Kernel> = OnceLock::new();
        KERNEL.get_or_init(|| {
            let tried = std::thread::spawn(|| {
                let ruleset = blank(Network::Allow)?;
                let status = ruleset.restrict_self()?;
                Ok((status, filter::raise(false).err()))
            });
            let namespaces = Namespaces::try_out();
            let (unparted, untold) = (namespaces::unparted(), audit::obstacle());
            match tried.join() {
                Ok(Ok((status, unfiltered))) => {
                    let told = Self::told(&status, namespaces);
                    Self { unparted, unfiltered, untold, ..told }
                }
                Ok(Err(error)) => Self::none(in_words(&error), namespaces),
                Err(_) => Self::none("its trial broke off".to_owned(), namespaces),
            }
        })
    }

    fn none(why: String, namespaces: Namespaces) -> Self {
        let obstacle = Some(why);
        Self { abi: 0, obstacle, namespaces, unparted: None, unfiltered: None, untold: None }
    }

    /// The kernel, by what it says of a thread that it was asked to fence in.
    pub(super) fn told(status: &RestrictionStatus, namespaces: Namespaces) -> Self {
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
        // It takes a while to find out, and a fence that is raised does not depend on it.
        let untold = Some("nobody has asked".to_owned());
        let obstacle = obstacle.or(refused).map(str::to_owned);
        Self { abi, obstacle, namespaces, unparted: None, unfiltered: None, untold }
    }

    /// Whether a fence can be raised at all.
    pub fn can_fence(&self) -> bool {
        self.obstacle.is_none()
    }

    /// Every rule, and whether a fence of which this is asked holds it here.
    pub fn rules(&self, asked: Asked) -> impl Iterator<Item = (&'static Rule, Held)> + '_ {
        RULES.iter().map(move |rule| (rule, self.holds(rule, asked)))
    }

    fn holds(&self, rule: &Rule, asked: Asked) -> Held {
        let (namespaced, why) = match &self.namespaces {
            Namespaces::Both => (true, None),
            Namespaces::InUsers => {
                (true, Some("it takes root, a network that is denied, or a fence that is required"))
            }
            Namespaces::None(why) => (false, Some(why.as_str())),
        };
        let (is_held, why) = match rule.by {
            By::Landlock(since) => (self.abi >= since, None),
            By::LandlockAndFilter(since) => {
                (self.abi >= since && self.unfiltered.is_none(), self.unfiltered.as_deref())
            }
            By::LandlockOrNetwork(since) => {
                let is_held = self.abi >= since && self.unfiltered.is_none();
                (is_held || namespaced, self.unfiltered.as_deref())
            }
            By::Network => (namespaced, why),
            By::Mounts => (self.namespaces.are_entered(asked), why),
            By::Parted => {
                let is_held = self.namespaces.are_entered(asked) && self.unparted.is_none();
                (is_held, self.unparted.as_deref().or(why))
            }
            By::Filter => (self.unfiltered.is_none(), self.unfiltered.as_deref()),
            By::Audit(since) => {
                (self.abi >= since && self.untold.is_none(), self.untold.as_deref())
            }
            By::Nothing => (false, None),
        };
        if is_held && self.can_fence() {
            return Held::Yes;
        }
        let why = why.map(|why| format!(" ({why})")).unwrap_or_default();
        Held::No(format!("{}{why}", rule.gap))
    }

    /// Why a fence here is not worth its name; none if it is.
    pub fn unfit(&self, asked: Asked) -> Option<String> {
        if let Some(obstacle) = &self.obstacle {
            return Some(obstacle.clone());
        }
        let needed = |rule: &Rule| match rule.weight {
            Weight::Needed => true,
            Weight::NeededWith(network) => asked.network == network,
            Weight::Wanted | Weight::Known => false,
        };
        let mut rules = self.rules(asked).filter(|(rule, _)| needed(rule));
        rules.find_map(|(_, held)| match held {
            Held::Yes => None,
            Held::No(gap) => Some(gap),
        })
    }

    /// What was asked for, or a newer kernel would hold, and this one does not, in words.
    pub fn gaps(&self, asked: Asked) -> Vec<String> {
        let counts = |rule: &Rule| match rule.weight {
            Weight::Needed | Weight::Wanted => true,
            Weight::NeededWith(network) => asked.network == network,
            Weight::Known => false,
        };
        let rules = self.rules(asked).filter(|(rule, _)| counts(rule));
        let missing = rules.filter_map(|(_, held)| match held {
            Held::Yes => None,
            Held::No(gap) => Some(gap),
        });
        missing.collect()
    }
}
