use std::path::Path;

use expect_test::expect_file;
use legation_runners::agents::Vendor;

use super::tell;

const FOLDERS: [(Vendor, &str); 5] = [
    (Vendor::Legation, "legation"),
    (Vendor::Claude, "claude"),
    (Vendor::OpenCode, "opencode"),
    (Vendor::Gemini, "gemini"),
    (Vendor::Codex, "codex"),
];

/// Beside every fixture lies what is read out of it, in a `.txt` of the same name.
#[test]
fn every_fixture_is_read_as_the_text_beside_it_says() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/fixtures");
    let mut seen = 0;
    for (vendor, folder) in FOLDERS {
        let mut files: Vec<_> = std::fs::read_dir(fixtures.join(folder))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|extension| extension != "txt"))
            .collect();
        files.sort();
        for file in files {
            let name = file.file_name().unwrap().to_str().unwrap();
            let told = tell(vendor, name, &std::fs::read(&file).unwrap());
            expect_file![file.with_extension("txt")].assert_eq(&told);
            seen += 1;
        }
    }
    assert!(seen >= 45, "only {seen} fixtures were found");
}
