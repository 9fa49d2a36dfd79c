//! No question gets slower by what has ended: each is answered through an index. What
//! goes on or ended lately is looked through; it is never more than a few beside what
//! goes on.

use expect_test::{Expect, expect};

use crate::samples::{OnDisk, wait};

/// How each question is answered.
const PLANS: Expect = expect![[r#"
    a tree
      COMPOUND QUERY
      LEFT-MOST SUBQUERY
      SEARCH fresh USING PRIMARY KEY (id=? AND is_tree=?)
      UNION ALL
      SEARCH trees USING COVERING INDEX sqlite_autoindex_trees_1 (id=?)
    events of a tree
      SEARCH p USING PRIMARY KEY (tree=? AND seq>?)
      SEARCH e USING INTEGER PRIMARY KEY (rowid=?)
    its latest events
      SEARCH events USING INTEGER PRIMARY KEY (rowid>?)
      SCALAR SUBQUERY 1
      SCAN last_place
    events of all trees
      SEARCH e USING INTEGER PRIMARY KEY (rowid>?)
      CORRELATED SCALAR SUBQUERY 1
      SEARCH forgotten_trees USING INTEGER PRIMARY KEY (rowid=?)
      SEARCH t USING INTEGER PRIMARY KEY (rowid=?)
    open trees
      SEARCH fresh USING PRIMARY KEY (id>?)
    one delegation
      COMPOUND QUERY
      LEFT-MOST SUBQUERY
      SEARCH fresh USING PRIMARY KEY (id=? AND is_tree=?)
      SEARCH t USING INTEGER PRIMARY KEY (rowid=?)
      UNION ALL
      SEARCH d USING PRIMARY KEY (id=?)
      SEARCH t USING INTEGER PRIMARY KEY (rowid=?)
    active delegations
      SCAN fresh
      SEARCH t USING INTEGER PRIMARY KEY (rowid=?)
      USE TEMP B-TREE FOR ORDER BY
    history
      MERGE (UNION ALL)
      LEFT
      SCAN fresh
      SEARCH t USING INTEGER PRIMARY KEY (rowid=?)
      USE TEMP B-TREE FOR ORDER BY
      RIGHT
      SEARCH d USING INDEX delegations_ended (ended_at>?)
      SEARCH t USING INTEGER PRIMARY KEY (rowid=?)
    history of a status
      MERGE (UNION ALL)
      LEFT
      SCAN fresh
      SEARCH t USING INTEGER PRIMARY KEY (rowid=?)
      USE TEMP B-TREE FOR ORDER BY
      RIGHT
      SEARCH d USING INDEX delegations_status (status=? AND ended_at>?)
      SEARCH t USING INTEGER PRIMARY KEY (rowid=?)
    total
      SCAN CONSTANT ROW
      SCALAR SUBQUERY 1
      SEARCH ended_counts USING PRIMARY KEY (span>?)
      SCALAR SUBQUERY 2
      SEARCH delegations USING COVERING INDEX delegations_ended (ended_at>? AND ended_at<?)
      SCALAR SUBQUERY 3
      SCAN fresh
    total of a status
      SCAN CONSTANT ROW
      SCALAR SUBQUERY 1
      SEARCH ended_counts USING PRIMARY KEY (span>?)
      SCALAR SUBQUERY 2
      SEARCH delegations USING COVERING INDEX delegations_status (status=? AND ended_at>? AND ended_at<?)
      SCALAR SUBQUERY 3
      SCAN fresh
    delegation of a key
      SEARCH keys USING PRIMARY KEY (scope=? AND key=?)
"#]];

#[test]
fn no_question_looks_through_what_has_ended() {
    let disk = OnDisk::new();
    let plans = wait(async { disk.open().plans().await.unwrap() });
    PLANS.assert_eq(&plans);
}
