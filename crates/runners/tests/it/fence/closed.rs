//! Files: which can be read and which can be written.

use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};

use expect_test::expect;

use super::stage::Stage;

#[test]
fn what_is_hidden_is_not_read_and_what_is_not_writable_is_not_written() {
    let stage = Stage::new();
    let tried = stage.tries(&[
        "cat own",
        "cat $R/shelf/book",
        "cat $R/house/open/note",
        "cat $R/house/secret",
        "cat $R/house/rooms/more",
        "ls $R/house",
        "ls $R/house/rooms",
        "ls $R",
        "ls $R/shelf",
        "test -e $R/house/secret",
        "echo x > own",
        "echo x > deep/new",
        "mkdir deep/er && rmdir deep/er",
        "mv own deep/own && mv deep/own own",
        "ln own again && rm again",
        "ln -s own link && rm link",
        "mkfifo pipe && rm pipe",
        "echo x > $R/shelf/book",
        "echo x > $R/shelf/new",
        "echo x > $R/house/open/note",
        "echo x > $R/new",
        "truncate -s 0 $R/shelf/book",
        "rm $R/shelf/book",
        "mkdir $R/shelf/more",
        "mv $R/shelf/book .",
        "mv own $R/shelf/own",
        "ln $R/shelf/book stolen",
        "ln own $R/shelf/own",
        "mknod disk b 254 0",
    ]);
    expect![[r#"
        yes cat own
        yes cat $R/shelf/book
        yes cat $R/house/open/note
        no cat $R/house/secret
        no cat $R/house/rooms/more
        no ls $R/house
        no ls $R/house/rooms
        no ls $R
        yes ls $R/shelf
        yes test -e $R/house/secret
        yes echo x > own
        yes echo x > deep/new
        yes mkdir deep/er && rmdir deep/er
        yes mv own deep/own && mv deep/own own
        yes ln own again && rm again
        yes ln -s own link && rm link
        yes mkfifo pipe && rm pipe
        no echo x > $R/shelf/book
        no echo x > $R/shelf/new
        no echo x > $R/house/open/note
        no echo x > $R/new
        no truncate -s 0 $R/shelf/book
        no rm $R/shelf/book
        no mkdir $R/shelf/more
        no mv $R/shelf/book .
        no mv own $R/shelf/own
        no ln $R/shelf/book stolen
        no ln own $R/shelf/own
        no mknod disk b 254 0
    "#]]
    .assert_eq(&tried);
    assert_eq!(stage.read("shelf/book"), "shelf/book\n");
}

#[test]
fn links_lead_nowhere_new() {
    let stage = Stage::new();
    symlink(stage.path("house"), stage.path("shelf/door")).unwrap();
    symlink(stage.path("house/secret"), stage.path("work/key")).unwrap();
    symlink(stage.path("shelf/book"), stage.path("work/pen")).unwrap();
    let tried = stage.tries(&[
        "cat $R/shelf/door/secret",
        "cat key",
        "cat pen",
        "echo x > pen",
        "ln -s $R/shelf/new out; echo x > out",
        "cat $R/shelf/../house/secret",
        "cat /proc/self/root$R/house/secret",
        "cd $R/house && cat secret",
    ]);
    expect![[r#"
        no cat $R/shelf/door/secret
        no cat key
        yes cat pen
        no echo x > pen
        no ln -s $R/shelf/new out; echo x > out
        no cat $R/shelf/../house/secret
        no cat /proc/self/root$R/house/secret
        no cd $R/house && cat secret
    "#]]
    .assert_eq(&tried);
    assert!(!stage.path("shelf/new").exists());
}

#[test]
fn an_entry_that_is_a_link_opens_nothing_behind_it() {
    // `gate` lies beside what is hidden, so it is looked at entry by entry.
    let stage = Stage::new();
    symlink(stage.path("house"), stage.path("gate")).unwrap();
    assert_eq!(stage.run("cat $R/gate/secret 2>/dev/null || echo closed"), "closed");
    assert_eq!(stage.run("cat $R/shelf/book"), "shelf/book");
}

#[test]
fn what_is_nearest_above_a_file_decides() {
    let mut stage = Stage::new();
    // The whole folder is writable, and the house in it stays what it is.
    stage.fence.writable.push(stage.path(""));
    let tried = stage.tries(&[
        "echo x > $R/shelf/new",
        "echo x > $R/new",
        "cat $R/house/secret",
        "cat $R/house/open/note",
        "echo x > $R/house/open/note",
        "echo x > own",
    ]);
    expect![[r#"
        yes echo x > $R/shelf/new
        no echo x > $R/new
        no cat $R/house/secret
        yes cat $R/house/open/note
        no echo x > $R/house/open/note
        yes echo x > own
    "#]]
    .assert_eq(&tried);
    let (_, standing) = stage.try_run("true").unwrap();
    assert!(standing.gaps.iter().any(|gap| gap.contains("nothing new")), "{standing:?}");
}

#[test]
fn a_file_that_is_named_as_readable_does_not_close_its_writable_folder() {
    let mut stage = Stage::new();
    stage.fence.readable.push(stage.path("work/own"));
    assert_eq!(
        stage.tries(&["echo x > own", "echo x > other"]),
        "yes echo x > own\nyes echo x > other\n"
    );
}

#[test]
fn a_single_file_can_be_shown() {
    let mut stage = Stage::new();
    stage.fence.readable.push(stage.path("house/secret"));
    assert_eq!(
        stage.tries(&["cat $R/house/secret", "cat $R/house/rooms/more"]),
        "yes cat $R/house/secret\nno cat $R/house/rooms/more\n"
    );
}

#[test]
fn a_folder_with_too_many_entries_stays_closed_and_that_is_told() {
    let stage = Stage::new();
    for number in 0..4_100 {
        fs::write(stage.path(&format!("{number}")), "x").unwrap();
    }
    let (said, standing) = stage.try_run("cat $R/shelf/book 2>/dev/null || cat own").unwrap();
    assert_eq!(said, "work/own");
    assert!(standing.gaps.iter().any(|gap| gap.contains("more than 4096")), "{standing:?}");
}

#[test]
fn programs_find_what_they_cannot_do_without() {
    let stage = Stage::new();
    let tried = stage.tries(&[
        "echo x > /dev/null",
        "head -c 1 /dev/urandom",
        "head -c 1 /dev/zero",
        "ls /usr/bin /etc /proc /dev/pts",
        "echo x > /dev/stdout",
        "cat /proc/self/status",
        "git init -q repo && cd repo && echo x > f && git add f && git -c user.name=a \
         -c user.email=a@b.c commit -qm x && git gc -q && git status",
        "echo x > /dev/shm/legation-test",
        "echo x > /proc/sys/kernel/hostname",
        "ls /dev",
        "cat /dev/vda /dev/sda /dev/mem",
    ]);
    expect![[r#"
        yes echo x > /dev/null
        yes head -c 1 /dev/urandom
        yes head -c 1 /dev/zero
        yes ls /usr/bin /etc /proc /dev/pts
        yes echo x > /dev/stdout
        yes cat /proc/self/status
        yes git init -q repo && cd repo && echo x > f && git add f && git -c user.name=a -c user.email=a@b.c commit -qm x && git gc -q && git status
        no echo x > /dev/shm/legation-test
        no echo x > /proc/sys/kernel/hostname
        no ls /dev
        no cat /dev/vda /dev/sda /dev/mem
    "#]].assert_eq(&tried);
}

#[test]
fn modes_owners_and_times_are_changed_inside_and_nowhere_else() {
    let stage = Stage::new();
    fs::create_dir(stage.path("work/tools")).unwrap();
    let before = fs::metadata(stage.path("shelf/book")).unwrap();
    let tried = stage.tries(&[
        "chmod 700 own",
        "touch -d 2001-01-01 own",
        "chown $(id -u) own",
        "setfattr -n user.x -v y own || python3 -c 'import os; os.setxattr(\"own\", \"user.x\", b\"y\")'",
        "chmod 700 $R/shelf/book",
        "chmod 700 $R/shelf",
        "chmod 700 $R/house/secret",
        "touch -d 2001-01-01 $R/shelf/book",
        "chown 1 $R/shelf/book",
        "python3 -c 'import os; os.setxattr(os.environ[\"R\"] + \"/shelf/book\", \"user.x\", b\"y\")'",
        "chmod 700 /proc/self/root$R/shelf/book",
        "chmod 700 /etc/passwd",
        "mount -o remount,rw,bind /",
        "unshare -Um mount -o remount,rw,bind /",
    ]);
    expect![[r#"
        yes chmod 700 own
        yes touch -d 2001-01-01 own
        yes chown $(id -u) own
        yes setfattr -n user.x -v y own || python3 -c 'import os; os.setxattr("own", "user.x", b"y")'
        no chmod 700 $R/shelf/book
        no chmod 700 $R/shelf
        no chmod 700 $R/house/secret
        no touch -d 2001-01-01 $R/shelf/book
        no chown 1 $R/shelf/book
        no python3 -c 'import os; os.setxattr(os.environ["R"] + "/shelf/book", "user.x", b"y")'
        no chmod 700 /proc/self/root$R/shelf/book
        no chmod 700 /etc/passwd
        no mount -o remount,rw,bind /
        no unshare -Um mount -o remount,rw,bind /
    "#]].assert_eq(&tried);
    let after = fs::metadata(stage.path("shelf/book")).unwrap();
    assert_eq!((before.mode(), before.ctime_nsec()), (after.mode(), after.ctime_nsec()));
    // The test itself sees and writes what it did before.
    fs::write(stage.path("shelf/book"), "more").unwrap();
}
