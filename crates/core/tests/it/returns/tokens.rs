use legation_core::returns::Tokens;

const SOME: Tokens =
    Tokens { input: 1, output: 20, reasoning: 300, cache_read: 4_000, cache_write: 50_000 };

#[test]
fn reads_from_a_cache_are_recorded_and_not_counted() {
    assert_eq!(SOME.counted(), 50_321);
}

#[test]
fn tokens_add_up_kind_by_kind_and_never_wrap() {
    let twice = SOME.plus(&SOME);
    assert_eq!((twice.counted(), twice.cache_read), (100_642, 8_000));
    let huge = Tokens { input: u64::MAX, ..SOME };
    assert_eq!(huge.plus(&huge).counted(), u64::MAX);
}

#[test]
fn what_is_more_than_before_is_counted_kind_by_kind_and_never_below_nothing() {
    let more = Tokens { input: 5, output: 10, ..SOME };
    assert_eq!(more.minus(&SOME), Tokens { input: 4, ..Tokens::default() });
    assert_eq!(SOME.minus(&Tokens::default()), SOME);
    assert_eq!(Tokens::default().minus(&SOME), Tokens::default());
}
