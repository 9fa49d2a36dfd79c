//! Entries in any text: found once each, numbered in a row, and written back the same.
#![no_main]

use legation_core::text::delegate::parse;
use legation_core::text::story::StoryId;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let story = StoryId::default();
    let parsed = parse(text, &story, 0);
    for (position, entry) in parsed.delegations.iter().enumerate() {
        assert_eq!(entry.child_story_id.as_str(), format!("TASK-DEL-{:03}", position + 1));
        let again = parse(&entry.to_string(), &story, 0);
        assert_eq!(again.delegations.len(), 1, "{entry}");
    }
});
