//! No question gets slower by what has ended: each is answered through an index.

use expect_test::expect;

use crate::samples::{OnDisk, wait};

#[test]
fn no_question_looks_through_a_whole_table() {
    let disk = OnDisk::new();
    let plans = wait(async { disk.open().plans().await.unwrap() });
    expect![[r#"
        events of a tree
          SEARCH events USING INDEX events_of_tree (tree=? AND seq>?)
          SCALAR SUBQUERY 1
          SEARCH trees USING COVERING INDEX sqlite_autoindex_trees_1 (id=?)
        events of all trees
          SEARCH e USING INTEGER PRIMARY KEY (rowid>?)
          SEARCH t USING INTEGER PRIMARY KEY (rowid=?)
        open trees
          SEARCH trees USING INDEX trees_open (id>?)
        one delegation
          SEARCH d USING PRIMARY KEY (id=?)
          SEARCH t USING INTEGER PRIMARY KEY (rowid=?)
        active delegations
          SCAN d USING INDEX delegations_active
          SEARCH t USING INTEGER PRIMARY KEY (rowid=?)
        history
          SEARCH d USING INDEX delegations_ended (ended_at>?)
          SEARCH t USING INTEGER PRIMARY KEY (rowid=?)
        history of a status
          SEARCH d USING INDEX delegations_status (status=? AND ended_at>?)
          SEARCH t USING INTEGER PRIMARY KEY (rowid=?)
        total
          SCAN CONSTANT ROW
          SCALAR SUBQUERY 1
          SEARCH ended_counts USING PRIMARY KEY (span>?)
          SCALAR SUBQUERY 2
          SEARCH delegations USING COVERING INDEX delegations_ended (ended_at>? AND ended_at<?)
        total of a status
          SCAN CONSTANT ROW
          SCALAR SUBQUERY 1
          SEARCH ended_counts USING PRIMARY KEY (span>?)
          SCALAR SUBQUERY 2
          SEARCH delegations USING COVERING INDEX delegations_status (status=? AND ended_at>? AND ended_at<?)
        delegation of a key
          SEARCH keys USING PRIMARY KEY (scope=? AND key=?)
    "#]].assert_eq(&plans);
}
