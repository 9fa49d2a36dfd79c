//! What events are called.

use super::Body;

impl Body {
    /// The name of every kind of event, as it is stored.
    pub const KINDS: [&'static str; 32] = [
        "tree_opened",
        "delegation_accepted",
        "subtasks_added",
        "attempt_started",
        "attempt_spawned",
        "usage_settled",
        "progress_made",
        "approval_asked",
        "approval_given",
        "approval_delivered",
        "wait_began",
        "attempt_froze",
        "stop_requested",
        "attempt_ended",
        "retry_scheduled",
        "retry_due",
        "merge_requested",
        "merge_ended",
        "subtask_ended",
        "winner_chosen",
        "paused",
        "resumed",
        "time_ran_out",
        "rest_stopped",
        "cancel_requested",
        "delegation_ended",
        "delegation_reopened",
        "answer_delivered",
        "rolled_back",
        "workspace_removed",
        "result_left",
        "workspace_left",
    ];

    /// What this event is called, as it is stored.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::TreeOpened(_) => "tree_opened",
            Self::DelegationAccepted(_) => "delegation_accepted",
            Self::SubtasksAdded { .. } => "subtasks_added",
            Self::AttemptStarted(_) => "attempt_started",
            Self::AttemptSpawned { .. } => "attempt_spawned",
            Self::UsageSettled { .. } => "usage_settled",
            Self::ProgressMade { .. } => "progress_made",
            Self::ApprovalAsked { .. } => "approval_asked",
            Self::ApprovalGiven { .. } => "approval_given",
            Self::ApprovalDelivered { .. } => "approval_delivered",
            Self::WaitBegan { .. } => "wait_began",
            Self::AttemptFroze { .. } => "attempt_froze",
            Self::StopRequested { .. } => "stop_requested",
            Self::AttemptEnded(_) => "attempt_ended",
            Self::RetryScheduled(_) => "retry_scheduled",
            Self::RetryDue { .. } => "retry_due",
            Self::MergeRequested { .. } => "merge_requested",
            Self::MergeEnded { .. } => "merge_ended",
            Self::SubtaskEnded(_) => "subtask_ended",
            Self::WinnerChosen { .. } => "winner_chosen",
            Self::Paused { .. } => "paused",
            Self::Resumed { .. } => "resumed",
            Self::TimeRanOut { .. } => "time_ran_out",
            Self::RestStopped { .. } => "rest_stopped",
            Self::CancelRequested { .. } => "cancel_requested",
            Self::DelegationEnded { .. } => "delegation_ended",
            Self::DelegationReopened { .. } => "delegation_reopened",
            Self::AnswerDelivered { .. } => "answer_delivered",
            Self::RolledBack { .. } => "rolled_back",
            Self::WorkspaceRemoved { .. } => "workspace_removed",
            Self::ResultLeft { .. } => "result_left",
            Self::WorkspaceLeft { .. } => "workspace_left",
        }
    }
}
