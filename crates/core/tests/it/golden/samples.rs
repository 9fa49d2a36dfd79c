//! One sample of every event, with everything in it that can be there.
//!
//! Together and in this order they are a log that replays.

use std::sync::Arc;

use legation_core::Code;
use legation_core::agent::{ContextMode, Operation};
use legation_core::config::{Limits, Pattern, Recovery};
use legation_core::returns::{
    Artifact, Evidence, FenceRefusal, Grandchild, Metadata, Receipt, Return, ReturnError,
    ReturnStatus, StopReason, Tokens, Verification,
};
use legation_core::time::Now;
use legation_core::tree::command::Habits;
use legation_core::tree::event::{
    Accepted, AttemptEnded, AttemptStarted, Body, Caller, Cast, DelegationResult, Hunk,
    MergeOutcome, NewSubtask, NotBrought, Outcome, Process, Retried, RetryCause, Role, Settings,
    Substitute, SubtaskEnded, Turn, Vote,
};
use legation_core::tree::ledger::Amount;
use legation_core::tree::plan::Aggregate;
use legation_core::tree::{AttemptNo, DelegationNo, SubtaskNo};
use serde_json::json;

use crate::story::usd;

const DELEGATION: DelegationNo = DelegationNo(0);
const SUBTASK: SubtaskNo = SubtaskNo(0);
const ATTEMPT: AttemptNo = AttemptNo(0);

/// One of each.
pub(crate) fn samples() -> Vec<Body> {
    let (delegation, subtask, attempt) = (DELEGATION, SUBTASK, ATTEMPT);
    let text = str::to_owned;
    let mut samples = vec![
        Body::TreeOpened(settings()),
        Body::DelegationAccepted(Box::new(accepted())),
        Body::SubtasksAdded { delegation, subtasks: vec![critic()] },
        Body::AttemptStarted(AttemptStarted {
            subtask,
            id: "exec-propose-1".into(),
            session: "sess_1767225600_a1b2c3".into(),
            deadline: Now(1_767_226_200_000),
        }),
        Body::AttemptSpawned {
            attempt,
            process: Some(Process { pid: 4242, started: 987_654 }),
            workspace: Some(text("/state/legation/exec-propose-1")),
            base: Some(text("0123abc")),
        },
        Body::UsageSettled {
            attempt,
            tokens: tokens(),
            cost: Some(usd(0.45)),
            context: Some(31_000),
        },
        Body::ProgressMade { attempt, current: 2, total: 5, last_action: text("ran the tests") },
        Body::ApprovalAsked { attempt, what: text("web: fetch example.org") },
        Body::ApprovalGiven { subtask, approved: true, by: text("ana"), reason: text("once") },
        Body::ApprovalDelivered { attempt },
        Body::WaitBegan { attempt, delegation },
        Body::AttemptFroze { attempt, frozen: true },
        Body::StopRequested { attempt, reason: StopReason::Timeout },
        Body::AttemptEnded(Arc::new(attempt_ended())),
    ];
    samples.extend(endings());
    samples
}

fn endings() -> Vec<Body> {
    let (delegation, subtask, attempt) = (DELEGATION, SUBTASK, ATTEMPT);
    let text = str::to_owned;
    vec![
        Body::RetryScheduled(Retried {
            subtask,
            cause: RetryCause::Request,
            not_before: Now(1_767_225_602_000),
            agent: Some(Substitute { agent: "ben".into(), habits: habits(), needs_approval: true }),
            note: Some(text("use the other port")),
            reserved: Some(amount(50_000, 1.25)),
        }),
        Body::RetryDue { subtask },
        Body::MergeRequested { subtask },
        Body::MergeEnded {
            subtask,
            outcome: MergeOutcome::Conflict { files: vec![text("src/lib.rs")], hunks: Vec::new() },
        },
        Body::SubtaskEnded(SubtaskEnded {
            subtask,
            outcome: Outcome::Blocked,
            error: Some(error()),
        }),
        Body::WinnerChosen { delegation, subtask },
        Body::Paused {
            delegation,
            since: Now(1_767_225_599_000),
            freeze: true,
            reason: text("lunch"),
        },
        Body::Resumed { delegation },
        Body::TimeRanOut { delegation },
        Body::RestStopped { delegation },
        Body::CancelRequested {
            delegation,
            by: text("ana"),
            reason: text("enough"),
            rollback: true,
        },
        Body::DelegationEnded { delegation, outcome: Outcome::Partial, result: Arc::new(result()) },
        Body::DelegationReopened { delegation, reserved: vec![(subtask, amount(60_000, 2.0))] },
        Body::AnswerDelivered {
            delegation,
            not_brought: Some(NotBrought {
                why: "both sides changed a.rs".into(),
                files: vec!["a.rs".into()],
                hunks: vec![Hunk {
                    file: "a.rs".into(),
                    line: 3,
                    text: "<<<<<<< 1\n".into(),
                    kind: None,
                }],
            }),
        },
        Body::RolledBack { delegation },
        Body::WorkspaceRemoved { attempt, kept: Some(text("refs/legation/del-1/propose/1")) },
        Body::ResultLeft { delegation, why: text("the branch is checked out elsewhere") },
        Body::WorkspaceLeft { attempt, why: text("/state/workspaces/exec-1 is left: disk full") },
    ]
}

fn amount(tokens: u64, dollars: f64) -> Amount {
    Amount { tokens, cost: usd(dollars) }
}

fn tokens() -> Tokens {
    Tokens { input: 1_200, output: 800, reasoning: 300, cache_read: 90_000, cache_write: 4_000 }
}

fn settings() -> Settings {
    Settings {
        limits: Limits::default(),
        recovery: Recovery::default(),
        quality_threshold: Some(80),
        enabled: true,
    }
}

fn habits() -> Habits {
    Habits {
        recursive: true,
        unmetered: false,
        operation: Some(Operation::Research),
        timeout_ms: Some(1_800_000),
        max_retries: Some(1),
        backoff_ms: Some(500),
        max_concurrent: Some(2),
        context: ContextMode::Summary,
    }
}

fn accepted() -> Accepted {
    Accepted {
        id: "del-1".into(),
        caller: Caller::Root { name: "user".into(), depth: 0 },
        parent: None,
        task_id: "task-1".into(),
        title: "Choose a database".to_owned(),
        task: "Choose a database for the new service.".to_owned(),
        pattern: Pattern::Debate,
        rounds: 3,
        aggregate: Aggregate::Vote,
        cast: vec![Cast {
            agent: "ann".into(),
            habits: habits(),
            timeout_ms: Some(600_000),
            tokens: Some(90_000),
            needs_approval: true,
            own: None,
        }],
        judge: Some(Cast {
            agent: "solomon".into(),
            habits: Habits::default(),
            timeout_ms: None,
            tokens: None,
            needs_approval: false,
            own: None,
        }),
        resolver: None,
        width: 5,
        max_depth: 3,
        cap: Some(amount(400_000, 4.5)),
        timeout_ms: 4_200_000,
        subtasks: vec![proposer()],
        asked: 2,
        include_dirty: false,
        waits: false,
        idempotency_key: Some("key-1".to_owned()),
        call_key: "call\u{0}00ff".into(),
    }
}

fn proposer() -> NewSubtask {
    NewSubtask {
        id: "propose".into(),
        title: "Choose a database".to_owned(),
        task: "Choose a database for the new service.".into(),
        agent: "ann".into(),
        role: Role::Proposer,
        round: 0,
        depends_on: Vec::new(),
        required: true,
        needs_approval: true,
        reserved: amount(90_000, 4.5),
        tokens: Some(90_000),
        timeout_ms: 600_000,
        asked_ms: Some(600_000),
        call_key: "00ff".into(),
        files: vec!["docs/database.md".to_owned()],
        habits: habits(),
        resolves: None,
    }
}

/// A subtask that a conflict has added.
pub(crate) fn resolver() -> NewSubtask {
    NewSubtask { role: Role::Resolver, resolves: Some(SUBTASK), ..critic() }
}

fn critic() -> NewSubtask {
    NewSubtask {
        id: "critique-1-1".into(),
        agent: "ben".into(),
        role: Role::Critic,
        round: 1,
        depends_on: vec![SUBTASK],
        required: false,
        needs_approval: false,
        tokens: None,
        asked_ms: None,
        call_key: "11ff".into(),
        files: Vec::new(),
        habits: Habits::default(),
        ..proposer()
    }
}

fn error() -> ReturnError {
    ReturnError {
        kind: "merge_conflict".to_owned(),
        message: "Its changes and earlier ones touch the same lines of: src/lib.rs.".to_owned(),
        code: Some(Code::Conflict.to_string()),
        recoverable: true,
        recommendation: "Retry it with a note: it will start from the merged result.".to_owned(),
    }
}

fn attempt_ended() -> AttemptEnded {
    let artifact = Artifact {
        kind: "report".to_owned(),
        path: "docs/database.md".to_owned(),
        summary: Some("the comparison".to_owned()),
    };
    AttemptEnded {
        attempt: ATTEMPT,
        status: ReturnStatus::Partial,
        answer: Return {
            status: ReturnStatus::Partial,
            summary: "Compared three databases.".to_owned(),
            artifacts: vec![artifact],
            metadata: Metadata {
                session_id: "sess_1767225600_a1b2c3".into(),
                agent_type: "ann".into(),
                delegation_depth: 1,
                delegation_path: vec!["user".into(), "ann".into()],
                duration_seconds: Some(61.5),
            },
            errors: vec![error()],
            next_steps: Some("Measure the writes.".to_owned()),
            data: Some(json!({"decision": "sqlite"})),
        },
        receipt: receipt(),
        quality: Some(70),
        hold_until: Some(Now(1_767_225_660_000)),
        raw: Some("the raw text".to_owned()),
    }
}

fn receipt() -> Receipt {
    let command = "cargo test".to_owned();
    Receipt {
        denied: [("web".to_owned(), "it is not allowed here".to_owned())].into(),
        unavailable: [].into(),
        refused: Vec::new(),
        supervised_by: None,
        stop_reason: StopReason::Exited,
        exit_code: Some(0),
        tool_calls: [("read".to_owned(), 7), ("shell".to_owned(), 2)].into(),
        files_changed: vec!["docs/database.md".to_owned()],
        commits: vec!["4567def".to_owned()],
        verify: vec![Verification { command, exit_code: Some(1) }],
        tokens: Some(tokens()),
        cost_usd: Some(usd(0.45)),
        cost_estimated_usd: None,
        cost_basis: None,
        duration_ms: 61_500,
        grandchildren: vec![Grandchild {
            delegation_id: "del-2".into(),
            ended: Some("completed".to_owned()),
        }],
        fenced: Some(true),
        fence_gaps: Vec::new(),
        fence_refused: Some(vec![FenceRefusal {
            what: "fs.read_file".to_owned(),
            target: Some("/srv/other/secret".to_owned()),
        }]),
        in_submodules: Vec::new(),
        not_shared: Vec::new(),
        truncated: false,
        brief_cut: vec!["artifacts".to_owned()],
        evidence: Evidence::Seen,
        downgraded: vec!["verification failed: `cargo test` exited with 1".to_owned()],
    }
}

fn result() -> DelegationResult {
    DelegationResult {
        summary: "SQLite".to_owned(),
        data: json!({"decision": "sqlite"}),
        artifacts: Vec::new(),
        votes: vec![Vote { choice: json!("sqlite"), members: vec!["member-1".into()] }],
        history: vec![Turn {
            subtask: "critique-1-1".into(),
            role: Role::Critic,
            round: 1,
            summary: "too small".to_owned(),
            verdict: Some("revise".to_owned()),
        }],
        findings: vec![json!({"line": 7})],
    }
}
