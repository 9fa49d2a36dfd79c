//! Plain text becomes a task, and no word of it is lost or invented.
#![no_main]

use legation_core::task::Task;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let task = Task::from_text(text);
    assert!(!task.title.contains('\n'));
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let kept = format!("{}\n{}", task.title, task.description);
    assert_eq!(words(&kept), words(text));
});
