//! What is made of the records of the audit log. They are as a kernel has written them.

use expect_test::expect;
use legation_runners::fence::{ACCESS, DOMAIN, MAX_TOLD, Refusals};

const KEEPER: u32 = 32263;

fn told(refusals: Refusals) -> String {
    let lines = refusals.told().into_iter().map(|refusal| {
        format!("{} {}\n", refusal.what, refusal.target.unwrap_or_else(|| "-".to_owned()))
    });
    lines.collect()
}

fn stands(domain: &str, pid: u32) -> String {
    format!(
        "audit(1794979262.736:2): domain={domain} status=allocated mode=enforcing pid={pid} uid=0 \
         exe=\"/usr/bin/legation\" comm=\"legation\""
    )
}

fn refused(domain: &str, rest: &str) -> String {
    format!("audit(1794979262.736:2): domain={domain} blockers={rest}")
}

#[test]
fn what_was_refused_is_told_once_with_what_it_was_about() {
    let mut refusals = Refusals::new(KEEPER);
    let first = "fs.make_reg path=2F746D702F77382F6F757420646972 dev=\"vda\" ino=10240066";
    refusals.hear(ACCESS, &refused("1ae1e8d62", first));
    assert!(!refusals.any());
    refusals.hear(DOMAIN, &stands("1ae1e8d62", KEEPER));
    assert!(refusals.any());
    for record in [
        "fs.read_dir path=\"/tmp\" dev=\"vda\" ino=246951",
        "fs.read_dir path=\"/tmp\" dev=\"vda\" ino=246951",
        "scope.signal opid=1 ocomm=\"init\"",
        "net.connect_tcp daddr=127.0.0.1 dest=443",
        "net.bind_tcp src=80",
        "fs.read_file path=2F74Z dev=\"vda\" ino=1",
    ] {
        refusals.hear(ACCESS, &refused("1ae1e8d62", record));
    }
    expect![[r#"
        fs.make_reg /tmp/w8/out dir
        fs.read_dir /tmp
        scope.signal process 1 (init)
        net.connect_tcp port 443
        net.bind_tcp port 80
        fs.read_file -
    "#]]
    .assert_eq(&told(refusals));
}

#[test]
fn refusals_of_other_fences_are_not_ours() {
    let mut refusals = Refusals::new(KEEPER);
    let record = "fs.read_file path=\"/secret\" dev=\"vda\" ino=1";
    refusals.hear(ACCESS, &refused("a1", record));
    refusals.hear(DOMAIN, &stands("a1", KEEPER + 1));
    refusals.hear(ACCESS, &refused("b2", "fs.read_file path=\"/own\" dev=\"vda\" ino=2"));
    refusals.hear(ACCESS, &refused("a1", record));
    refusals.hear(DOMAIN, &stands("b2", KEEPER));
    refusals.hear(ACCESS, &refused("a1", record));
    refusals.hear(DOMAIN, "audit(1.2:3): domain=a1 status=deallocated denials=3");
    assert!(!refusals.is_over());
    refusals.hear(DOMAIN, "audit(1.2:4): domain=b2 status=deallocated denials=1");
    assert!(refusals.is_over());
    assert_eq!(told(refusals), "fs.read_file /own\n");
}

#[test]
fn other_records_and_broken_ones_are_passed_over() {
    let mut refusals = Refusals::new(KEEPER);
    for text in ["", "domain", "domain=", "audit(1.2:3): blockers=fs.read_file", "\0\u{fffd} = = ="]
    {
        for kind in [0, 1300, ACCESS, DOMAIN] {
            refusals.hear(kind, text);
        }
    }
    refusals.hear(1300, &refused("b2", "fs.read_file path=\"/own\""));
    refusals.hear(DOMAIN, &stands("b2", KEEPER));
    assert_eq!(told(refusals), "");
}

#[test]
fn neither_their_number_nor_their_length_grows_without_end() {
    let mut refusals = Refusals::new(KEEPER);
    for number in 0..10_000 {
        let record = format!("fs.read_file path=\"/{number}/{}\"", "x".repeat(3_000));
        refusals.hear(ACCESS, &refused("b2", &record));
    }
    refusals.hear(DOMAIN, &stands("b2", KEEPER));
    let told = refusals.told();
    assert_eq!(told.len(), MAX_TOLD);
    assert!(told.iter().all(|it| it.target.as_ref().unwrap().len() == 1_000));
}
