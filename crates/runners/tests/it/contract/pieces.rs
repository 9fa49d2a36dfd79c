//! However the output is cut into pieces, the same is heard.

use proptest::collection::vec;
use proptest::prelude::*;

use super::columns::COLUMNS;
use super::stage::Said;

/// The output in pieces that end at these places.
fn cut<'a>(output: &'a [u8], places: &[usize]) -> Vec<&'a [u8]> {
    let mut places: Vec<usize> = places.iter().map(|place| place % (output.len() + 1)).collect();
    places.push(output.len());
    places.sort_unstable();
    let mut from = 0;
    let piece = |to: &usize| {
        let piece = output.get(from..*to).unwrap();
        from = *to;
        piece
    };
    places.iter().map(piece).collect()
}

proptest! {
    #[test]
    fn any_cutting_gives_the_same_events(
        places in vec(any::<usize>(), 0..40),
        junk in vec(any::<u8>(), 0..60),
        which in 0..COLUMNS.len(),
        is_denied in any::<bool>(),
    ) {
        let column = &COLUMNS[which];
        let mut output = junk;
        output.push(b'\n');
        output.extend_from_slice(if is_denied { column.denied } else { column.tools }.as_bytes());
        let whole = (column.hear)(&[Said::at_once(&output, 0)]);
        let pieces = (column.hear)(&[Said { pieces: cut(&output, &places), code: 0 }]);
        prop_assert_eq!(whole, pieces);
    }
}
