use legation_core::money::Usd;

#[test]
fn sums_of_dollars_are_exact() {
    let parts = [2.50, 0.45, 0.15, 0.38, 0.22].map(|d| Usd::from_dollars(d).unwrap());
    assert_eq!(parts.into_iter().sum::<Usd>().dollars(), 3.70);
}

#[test]
fn a_negative_or_infinite_amount_is_no_amount() {
    for dollars in [-0.01, f64::NAN, f64::INFINITY, 1e12] {
        assert_eq!(Usd::from_dollars(dollars), None, "{dollars}");
    }
}
