use legation_core::returns::{
    Artifact, Measures, Receipt, Verification, measured_quality, quality_of,
};
use proptest::prelude::*;

fn verified(exits: &[i32]) -> Vec<Verification> {
    let run =
        |exit: &i32| Verification { command: "cargo test".to_owned(), exit_code: Some(*exit) };
    exits.iter().map(run).collect()
}

#[test]
fn quality_is_the_mean_of_the_parts_that_are_known() {
    type Case<'a> = (&'a [i32], usize, usize, &'a [u32], Option<u32>);
    let cases: [Case<'_>; 11] = [
        (&[], 0, 0, &[], None),
        (&[0], 0, 0, &[], Some(100)),
        (&[1], 0, 0, &[], Some(0)),
        (&[0, 1], 0, 0, &[], Some(50)),
        (&[0, 0, 1], 0, 0, &[], Some(67)),
        (&[], 2, 4, &[], Some(50)),
        (&[], 9, 4, &[], Some(100)),
        (&[], 0, 0, &[70, 81], Some(76)),
        (&[], 0, 0, &[4_000_000_000], Some(100)),
        (&[0], 1, 2, &[30], Some(60)),
        (&[1], 1, 1, &[], Some(50)),
    ];
    for (exits, artifacts_verified, artifacts_claimed, reviews, expected) in cases {
        let verify = &verified(exits);
        let measures = Measures { verify, artifacts_claimed, artifacts_verified, reviews };
        assert_eq!(measured_quality(&measures), expected, "{measures:?}");
    }
}

#[test]
fn a_verification_that_was_stopped_has_not_passed() {
    let verify = &[Verification { command: "make".to_owned(), exit_code: None }];
    let measures = Measures { verify, ..Measures::default() };
    assert_eq!(measured_quality(&measures), Some(0));
}

proptest! {
    #[test]
    fn quality_is_a_percentage(
        exits in prop::collection::vec(-1..2, 0..5),
        artifacts_claimed in 0_usize..5,
        artifacts_verified in 0_usize..9,
        reviews in prop::collection::vec(any::<u32>(), 0..4),
    ) {
        let verify = &verified(&exits);
        let measures = Measures { verify, artifacts_claimed, artifacts_verified, reviews: &reviews };
        let known = !exits.is_empty() || artifacts_claimed > 0 || !reviews.is_empty();
        let quality = measured_quality(&measures);
        prop_assert_eq!(quality.is_some(), known);
        prop_assert!(quality.is_none_or(|quality| quality <= 100));
    }
}

#[test]
fn a_report_may_be_as_it_was_and_other_work_may_not() {
    let artifact =
        |kind: &str, path: &str| Artifact { kind: kind.into(), path: path.into(), summary: None };
    let receipt = Receipt { files_changed: vec!["src/new/a.rs".to_owned()], ..Receipt::default() };
    let quality = |kind, path| quality_of(&[artifact(kind, path)], &receipt, &[]);
    assert_eq!(quality("report", "README.md"), Some(100));
    assert_eq!(quality("reference", "README.md"), Some(100));
    assert_eq!(quality("implementation", "README.md"), Some(0));
    assert_eq!(quality("implementation", "src/new"), Some(100));
    assert_eq!(quality("implementation", "src/ne"), Some(0));
    assert_eq!(quality_of(&[], &receipt, &[40, 60]), Some(50));
}
