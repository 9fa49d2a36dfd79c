//! What must hold for any layers whatever.

use legation_core::agent::{Definition, Layer, Level, Permissions, Subagents, ToolRules, glob};
use legation_core::config;
use legation_core::ids::AgentId;
use proptest::prelude::*;
use proptest::sample::select;

const RULES: [&str; 13] = [
    "read",
    "edit",
    "shell",
    "web",
    "delegate",
    "shell(git *)",
    "shell(rm *)",
    "mcp:a/x",
    "mcp:a/*",
    "mcp:*",
    "mcp:*/x",
    "*",
    "delegate(b)",
];

const NAMES: [&str; 13] = [
    "read",
    "edit",
    "shell",
    "web",
    "delegate",
    "shell(git push)",
    "shell(rm x)",
    "mcp:a/x",
    "mcp:a/y",
    "mcp:b/x",
    "neo4j",
    "delegate(b)",
    "delegate(c)",
];

fn names() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(select(&RULES).prop_map(str::to_owned), 0..4)
}

prop_compose! {
    fn tool_rules()(allow in prop::option::of(names()), ask in names(), deny in names()) -> ToolRules {
        ToolRules { allow, ask, deny }
    }
}

prop_compose! {
    fn layer()(tools in tool_rules(), delegates in any::<Option<bool>>()) -> Layer {
        let subagents = delegates.map(|some| Subagents {
            allow: some.then(|| "*".to_owned()).into_iter().collect(),
            ..Subagents::default()
        });
        let definition = Definition { tools, subagents, ..Definition::default() };
        Layer::ancestor(AgentId::new("a"), &definition)
    }
}

prop_compose! {
    fn global()(rules in tool_rules()) -> config::Permissions {
        config::Permissions { allow: rules.allow, ask: rules.ask, deny: rules.deny }
    }
}

fn levels(global: &config::Permissions, layers: &[&Layer]) -> Vec<Level> {
    let start = Permissions::new(global);
    let all = layers.iter().fold(start, |sum, layer| sum.and((*layer).clone()));
    NAMES.iter().map(|name| all.verdict(name).level).collect()
}

fn least(one: &[Level], other: &[Level]) -> Vec<Level> {
    one.iter().zip(other).map(|(one, other)| *one.min(other)).collect()
}

proptest! {
    #[test]
    fn the_order_of_layers_does_not_matter(g in global(), a in layer(), b in layer()) {
        prop_assert_eq!(levels(&g, &[&a, &b]), levels(&g, &[&b, &a]));
    }

    #[test]
    fn it_does_not_matter_which_layers_are_joined_first(
        g in global(), a in layer(), b in layer(), c in layer(),
    ) {
        let whole = levels(&g, &[&a, &b, &c]);
        prop_assert_eq!(&whole, &least(&levels(&g, &[&a, &b]), &levels(&g, &[&c])));
        prop_assert_eq!(&whole, &least(&levels(&g, &[&a]), &levels(&g, &[&b, &c])));
    }

    #[test]
    fn a_layer_twice_is_a_layer_once(g in global(), a in layer()) {
        prop_assert_eq!(levels(&g, &[&a]), levels(&g, &[&a, &a]));
    }

    #[test]
    fn one_more_layer_never_raises_anything(g in global(), a in layer(), b in layer(), r in tool_rules()) {
        let call = Layer::call(&r);
        let before = levels(&g, &[&a]);
        for after in [levels(&g, &[&a, &b]), levels(&g, &[&a, &call])] {
            prop_assert!(before.iter().zip(&after).all(|(before, after)| after <= before));
        }
    }

    #[test]
    fn a_pattern_is_no_freer_than_any_name_it_stands_for(g in global(), a in layer()) {
        let all = Permissions::new(&g).and(a);
        for rule in RULES {
            let whole = all.verdict(rule).level;
            for name in NAMES.iter().filter(|name| glob::matches(rule, name)) {
                prop_assert!(whole <= all.verdict(name).level, "{rule} {name}");
            }
        }
    }

    #[test]
    fn no_name_is_freer_than_the_most_that_its_pattern_leaves(
        g in global(), a in layer(), b in layer(), tools in names(),
    ) {
        let grant = config::Grant { name: String::new(), parent: String::new(), child: String::new(), tools };
        let all = Permissions::new(&g).and(a).lifted_by(&grant).and(b);
        for pattern in ["mcp:a/*", "mcp:b/*", "mcp:*"] {
            let freest = all.freest(pattern);
            for name in NAMES.iter().filter(|name| glob::matches(pattern, name)) {
                prop_assert!(all.verdict(name).level <= freest, "{pattern} {name}");
            }
        }
    }

    #[test]
    fn a_grant_never_lifts_anything_above_the_configuration(
        g in global(), a in layer(), b in layer(), tools in names(),
    ) {
        let grant = config::Grant {
            name: "g".to_owned(), parent: "p".to_owned(), child: "c".to_owned(), tools,
        };
        let bound = Permissions::new(&g).and(a.clone()).and(b.clone());
        let lifted = Permissions::new(&g).and(a).lifted_by(&grant).and(b);
        for name in NAMES {
            prop_assert!(lifted.verdict(name).level >= bound.verdict(name).level);
            prop_assert!(lifted.verdict(name).level <= Permissions::new(&g).verdict(name).level);
        }
    }

    #[test]
    fn checking_by_use_never_frees_a_use(g in global(), a in layer()) {
        let all = Permissions::new(&g).and(a);
        for name in NAMES.iter().filter(|name| **name != "shell" && **name != "delegate") {
            prop_assert_eq!(all.verdict(name).level, all.verdict_checked_by_use(name).level);
        }
    }
}
