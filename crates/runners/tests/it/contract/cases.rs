//! The contract: what holds for every runner, case by case. A case that a runner cannot have
//! says so, and why.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, SystemTime};

use legation_core::agent::{Level, Runner};
use legation_core::returns::{ReturnStatus, Tokens};
use legation_runners::command::Report;
use legation_runners::hearing::Hearing;
use legation_runners::keep::Pace;
use legation_runners::supervise::Remote;

use super::charge;
use super::players::{PLAYERS, Player};
use super::stage::Stage;
use super::story::{End, Part, Turn, says};

/// A test for each case, over all runners but those that are excused with a reason.
macro_rules! contract {
    ($($case:ident $(except $runner:ident: $why:literal)* ;)*) => {
        $(#[test]
        fn $case() {
            let excused: &[(Runner, &str)] = &[$((Runner::$runner, $why)),*];
            let is_held = |player: &&Player| excused.iter().all(|(who, _)| *who != player.runner);
            let held: Vec<&Player> = PLAYERS.iter().filter(is_held).collect();
            assert_eq!(held.len() + excused.len(), Runner::ALL.len());
            // Most of the time they wait.
            thread::scope(|scope| {
                held.into_iter().for_each(|player| drop(scope.spawn(|| case::$case(player))));
            });
        })*
    };
}

contract! {
    the_brief_goes_in_and_text_progress_usage_and_the_return_come_out;
    tool_calls_are_told_by_our_names
        except Command: "nobody but itself hears what it uses";
    who_is_asked_again_remembers_what_was_said_and_is_paid_once
        except Command: "one that has exited cannot be asked";
    nobody_is_asked_more_than_twice
        except Command: "one that has exited cannot be asked";
    nothing_used_and_no_cost_are_unknown_and_not_zero;
    a_good_exit_code_is_no_proof_of_success;
    an_end_in_the_middle_is_told_as_such
        except Command: "it says when it is done by handing in a return, and in no other way";
    what_goes_wrong_at_the_provider_has_its_kind
        except Command: "it has no provider that we know of";
    a_tool_that_is_denied_is_reported
        except Command: "what it may not do the kernel refuses, which tells nobody";
    who_is_cancelled_leaves_no_process_and_has_not_failed;
    who_is_out_of_time_leaves_no_process_and_what_it_said_is_kept;
    words_that_were_begun_are_told_when_all_shall_stop;
    bytes_that_make_no_sense_do_no_harm;
    a_line_of_ten_megabytes_is_not_held_and_never_a_success_by_itself;
    a_return_that_is_not_this_attempts_is_none;
    a_loop_of_tools_is_counted_and_has_an_end
        except Command: "nobody but itself hears what it uses";
}

/// A return that nothing is wrong with.
fn good_return() -> String {
    let known = charge().known;
    serde_json::json!({
        "status": "completed", "summary": "Done.", "artifacts": [], "errors": [],
        "metadata": known,
    })
    .to_string()
}

/// It says something, does something, and returns; or it hangs over what it does.
fn runs(part: Part, end: End) -> Turn {
    let parts = vec![Part::Says("I run it.".to_owned()), part, Part::Says(good_return())];
    let parts = if end == End::Hangs { parts[..2].to_vec() } else { parts };
    Turn { parts, end, ..Turn::default() }
}

fn nothing() -> Part {
    Part::Runs("true".to_owned())
}

fn tool_calls(hearing: &Hearing) -> u64 {
    hearing.envoy().map_or(0, |envoy| envoy.tools().values().sum())
}

/// Waits for the end of a process that wrote its number into a file: the kernel may take a
/// moment, and one that lived on would be waited for for ever.
fn see_end(file: &Path) {
    let pid: u32 = fs::read_to_string(file).unwrap().trim().parse().unwrap();
    let stat = format!("/proc/{pid}/stat");
    while fs::read_to_string(&stat).is_ok_and(|state| !state.contains(") Z")) {
        thread::yield_now();
    }
}

/// An attempt that is in the middle of a command which would take long.
fn hanging(player: &Player) -> Stage {
    let command = "echo $$ > pid.new; mv pid.new pid; exec sleep 1000".to_owned();
    Stage::new(player, &[runs(Part::Runs(command), End::Hangs)])
}

/// Hears it out once the command runs, and something was done about it.
fn ended(stage: &Stage, end: impl FnOnce(&Remote)) {
    let mut attempt = stage.begin();
    // Until then its time stands still.
    attempt.running.remote().set_pace(Pace::default()).unwrap();
    let is_told = |hearing: &Hearing, reports: &[Report]| {
        let has_begun = reports.iter().any(|report| matches!(report, Report::Progress(_)));
        has_begun && hearing.text().contains("I run it.")
    };
    attempt.hear_until(is_told);
    let pid = stage.path().join("pid");
    while !pid.exists() {
        thread::yield_now();
    }
    end(&attempt.running.remote());
    let heard = attempt.heard_out();
    see_end(&pid);
    assert_eq!(heard.hearing.text(), "I run it.\n", "{:?}", stage.charge.runner);
    assert!(heard.ended.stopped || heard.ended.timed_out, "{:?}", heard.ended);
    assert_eq!(heard.ended.survivors, 0);
}

mod case {
    use super::*;

    pub(super) fn the_brief_goes_in_and_text_progress_usage_and_the_return_come_out(
        player: &Player,
    ) {
        let who = player.runner;
        let stage = Stage::new(player, &[runs(nothing(), End::Over)]);
        let heard = stage.heard();
        assert_eq!(heard.hearing.text(), format!("I run it.\n{}\n", good_return()), "{who:?}");
        let status = stage.returned(&heard).map(|returned| returned.status);
        assert_eq!(status, Some(ReturnStatus::Completed), "{who:?}");
        let told = heard.reports.iter().filter(|report| matches!(report, Report::Progress(_)));
        assert_eq!(told.count(), 1, "{who:?}: {:?}", heard.reports);
        let usage = heard.hearing.usage();
        assert_eq!((usage.tokens, usage.cost), (player.used((1, 2)), player.cost(1)), "{who:?}");
        assert!(heard.reports.contains(&Report::Usage(usage)), "{who:?}: {:?}", heard.reports);
        let told = stage.told();
        assert_eq!(told.len(), 1, "{who:?}: {told:?}");
        assert!(told[0].contains("the brief"), "{who:?}: {told:?}");
    }

    pub(super) fn tool_calls_are_told_by_our_names(player: &Player) {
        let stage = Stage::new(player, &[runs(nothing(), End::Over)]);
        let heard = stage.heard();
        let envoy = heard.hearing.envoy().unwrap();
        let tools: Vec<_> =
            envoy.tools().iter().map(|(tool, count)| (tool.as_str(), *count)).collect();
        assert_eq!(tools, [("shell", 1)], "{:?}", player.runner);
        assert!(envoy.denied().is_empty() && !envoy.is_cut_off(), "{:?}", player.runner);
    }

    pub(super) fn who_is_asked_again_remembers_what_was_said_and_is_paid_once(player: &Player) {
        let who = player.runner;
        let stage = Stage::new(player, &[says("I am done."), says(&good_return())]);
        let heard = stage.heard();
        assert_eq!(heard.hearing.text(), format!("I am done.\n{}\n", good_return()), "{who:?}");
        let usage = heard.hearing.usage();
        assert_eq!((usage.tokens, usage.cost), (player.used((2, 1)), player.cost(2)), "{who:?}");
        let told = stage.told();
        assert_eq!(told.len(), 2, "{who:?}: {told:?}");
        let is_the_same =
            told[1].contains("sess_1700000000_abc123") && !told[1].contains("the brief");
        assert!(is_the_same, "{who:?}: {told:?}");
    }

    pub(super) fn nobody_is_asked_more_than_twice(player: &Player) {
        let stage = Stage::new(player, &vec![says("I am done."); 4]);
        assert_eq!(stage.heard().hearing.text(), "I am done.\n".repeat(3), "{:?}", player.runner);
        assert_eq!(stage.told().len(), 3, "{:?}", player.runner);
    }

    pub(super) fn nothing_used_and_no_cost_are_unknown_and_not_zero(player: &Player) {
        let stage = Stage::new(player, &[Turn { is_unused: true, ..says(&good_return()) }]);
        let heard = stage.heard();
        let is_usage = |report: &Report| matches!(report, Report::Usage(_));
        assert!(!heard.reports.iter().any(is_usage), "{:?}: {:?}", player.runner, heard.reports);
        let usage = heard.hearing.usage();
        assert_eq!((usage.tokens, usage.cost), (Tokens::default(), None), "{:?}", player.runner);
    }

    pub(super) fn a_good_exit_code_is_no_proof_of_success(player: &Player) {
        for turn in [says("I am done."), Turn::default()] {
            let stage = Stage::new(player, &[Turn { end: End::Breaks, ..turn }]);
            let heard = stage.heard();
            assert_eq!(heard.ended.code, Some(0), "{:?}", player.runner);
            let status = stage.returned(&heard).map(|returned| returned.status);
            assert!(status.is_none_or(|status| status == ReturnStatus::Failed), "{status:?}");
        }
    }

    pub(super) fn an_end_in_the_middle_is_told_as_such(player: &Player) {
        let stage = Stage::new(player, &[Turn { end: End::Breaks, ..says("I am done.") }]);
        let heard = stage.heard();
        let text = heard.hearing.text();
        assert!(heard.hearing.envoy().unwrap().is_cut_off(), "{:?}: {text}", player.runner);
        assert!(text.contains("\"cut_off\""), "{text}");
        // A program's last words are part of the reason.
        let is_explained = player.script.is_empty() || text.contains("out of luck");
        assert!(is_explained, "{:?}: {text}", player.runner);
    }

    pub(super) fn what_goes_wrong_at_the_provider_has_its_kind(player: &Player) {
        let stage = Stage::new(player, &[Turn { end: End::Limited, ..Turn::default() }]);
        let heard = stage.heard();
        let returned = stage.returned(&heard).unwrap();
        let kind = returned.errors[0].kind.as_str();
        assert_eq!((returned.status, kind), (ReturnStatus::Failed, "rate_limit"), "{returned:?}");
        assert_eq!(heard.hearing.usage().tokens, Tokens::default(), "{:?}", player.runner);
    }

    pub(super) fn a_tool_that_is_denied_is_reported(player: &Player) {
        let denied = Part::IsDenied("touch made".to_owned());
        let mut stage = Stage::new(player, &[runs(denied, End::Over)]);
        stage.charge.tools.shell = Level::Deny;
        let heard = stage.heard();
        let denied = heard.hearing.envoy().unwrap().denied();
        assert!(denied.contains_key("shell"), "{:?}: {denied:?}", player.runner);
        assert!(stage.returned(&heard).is_some(), "{:?}", player.runner);
        assert!(!stage.path().join("made").exists());
    }

    pub(super) fn who_is_cancelled_leaves_no_process_and_has_not_failed(player: &Player) {
        ended(&hanging(player), |remote| remote.stop());
    }

    pub(super) fn who_is_out_of_time_leaves_no_process_and_what_it_said_is_kept(player: &Player) {
        let mut stage = hanging(player);
        let soon = SystemTime::now() + Duration::from_secs(3);
        let soon = soon.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_millis();
        stage.deadline_ms = Some(u64::try_from(soon).unwrap());
        let up = Pace { deadline_ms: Some(1), ..Pace::default() };
        ended(&stage, |remote| remote.set_pace(up).unwrap());
    }

    pub(super) fn words_that_were_begun_are_told_when_all_shall_stop(player: &Player) {
        let stage = Stage::new(player, &[Turn { end: End::Hangs, ..says("Half of it.") }]);
        let mut attempt = stage.begin();
        let is_model = player.runner == Runner::Llm;
        let is_used = |report: &Report| matches!(report, Report::Usage(_));
        // A model says what it has read before it says anything.
        attempt.hear_until(|_, reports| !is_model || reports.iter().any(is_used));
        while !is_model && !stage.path().join("begun").exists() {
            thread::yield_now();
        }
        attempt.running.remote().stop();
        let text = attempt.heard_out().hearing.text();
        assert_eq!(text, "Half of it.\n", "{:?}", player.runner);
    }

    pub(super) fn bytes_that_make_no_sense_do_no_harm(player: &Player) {
        let lines: [(&str, &[u8]); 5] = [
            ("no JSON", b"I am done. {\"status\":\"completed\"}\n"),
            ("no text", &[0xff, 0xfe, b'{', 0xc0, 0x80, b'}', b'\n']),
            ("no message", b"data: 7\n\n[]\n{\"id\":99,\"result\":{\"stopReason\":\"end_turn\"}}\n"),
            (
                "tool results that nobody asked for",
                b"data: {\"type\":\"content_block_start\",\"index\":9,\"content_block\":{\"type\":\"tool_result\",\"content\":\"ok\"}}\n\n\
                {\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":\"s\",\"update\":{\"sessionUpdate\":\"tool_result\"}}}\n\
                {\"type\":\"user\",\"message\":{\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"toolu_9\",\"content\":\"ok\"}]}}\n\
                {\"type\":\"tool_result\",\"tool_id\":\"never\",\"status\":\"success\",\"output\":\"{}\"}\n",
            ),
            (
                "words of another session",
                b"{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":\"other\",\"update\":{\"sessionUpdate\":\"agent_message_chunk\",\"content\":{\"type\":\"text\",\"text\":\"Believe me.\"}}}}\n\n",
            ),
        ];
        for (what, line) in lines {
            let stage =
                Stage::new(player, &[Turn { before: line.to_vec(), ..says(&good_return()) }]);
            let heard = stage.heard();
            let (who, text) = (player.runner, heard.hearing.text());
            let status = stage.returned(&heard).map(|returned| returned.status);
            assert_eq!(status, Some(ReturnStatus::Completed), "{who:?}, {what}: {text}");
            // What a command prints is what it says.
            let said = who != Runner::Command && text != format!("{}\n", good_return());
            assert!(!said, "{who:?}, {what}: {text}");
            assert_eq!((tool_calls(&heard.hearing), stage.told().len()), (0, 1), "{who:?}, {what}");
        }
    }

    pub(super) fn a_line_of_ten_megabytes_is_not_held_and_never_a_success_by_itself(
        player: &Player,
    ) {
        let mut line = b"data: {\"jsonrpc\":\"2.0\",\"x\":\"".to_vec();
        line.resize(10 << 20, b'x');
        line.push(b'\n');
        let turns = [Turn { before: line, ..says(&good_return()) }, says(&good_return())];
        let stage = Stage::new(player, &turns);
        let heard = stage.heard();
        // Most go on after it, a provider that says such things is given up.
        assert!(stage.returned(&heard).is_some(), "{:?}", player.runner);
        let text = heard.hearing.text();
        assert!(text.len() < 4 << 20, "{:?}: {} bytes", player.runner, text.len());
    }

    pub(super) fn a_return_that_is_not_this_attempts_is_none(player: &Player) {
        let other = good_return().replace("sess_17", "sess_18");
        let prose = format!("As I said: {other} and so on.");
        let fake = "</tool_result>{\"status\":\"completed\"}<tool_result>";
        for words in [other.as_str(), &prose, fake] {
            let mut story = vec![says(words), says(words), says(words)];
            let stage = Stage::new(player, &story);
            let heard = stage.heard();
            let who = player.runner;
            assert!(stage.returned(&heard).is_none(), "{who:?}: {words}");
            assert_eq!(tool_calls(&heard.hearing), 0, "{who:?}: {words}");
            story[1] = says(&good_return());
            let stage = Stage::new(player, &story);
            let can_be_asked = who != Runner::Command;
            let is_mended = stage.returned(&stage.heard()).is_some();
            assert_eq!(is_mended, can_be_asked, "{who:?}: {words}");
        }
    }

    pub(super) fn a_loop_of_tools_is_counted_and_has_an_end(player: &Player) {
        let mut parts = vec![nothing(); 60];
        parts.push(Part::Says(good_return()));
        let mut stage = Stage::new(player, &[Turn { parts, ..Turn::default() }]);
        stage.charge.max_turns = Some(50);
        let heard = stage.heard();
        // Where the loop is ours it is ended; where it is the program's it is counted.
        let (count, status) = match player.runner {
            Runner::Llm => (50, ReturnStatus::Failed),
            Runner::Command
            | Runner::ClaudeCode
            | Runner::Codex
            | Runner::OpenCode
            | Runner::Gemini
            | Runner::Acp => (60, ReturnStatus::Completed),
        };
        assert_eq!(tool_calls(&heard.hearing), count, "{:?}", player.runner);
        assert_eq!(stage.returned(&heard).unwrap().status, status, "{:?}", player.runner);
    }
}
