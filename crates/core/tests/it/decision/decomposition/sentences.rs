//! Parts of a text that is no list.

use expect_test::expect;

use super::check_description;

#[test]
fn sentences_that_open_with_an_action_are_parts() {
    check_description(
        "Write the parser. Test it; document it! Is it fast? Ship it",
        &expect![[r#"
            Sentences
            1 Write the parser
            2 Test it
            3 Document it :: "document it! Is it fast?"
            4 Ship it"#]],
    );
    check_description(
        "The parser is slow. Measure it. It must be fast. Rewrite it in Rust.",
        &expect![[r#"
            Sentences
            1 Measure it :: "Measure it. It must be fast"
            2 Rewrite it in Rust"#]],
    );
    check_description(
        "Read README.md, e.g. the part on tests. Fix it.",
        &expect![[r#"
            Sentences
            1 Read README.md, e.g. the part on tests
            2 Fix it"#]],
    );
    check_description(
        "Implement the page\nTest the page\nDeploy the page",
        &expect![[r#"
            Sentences
            1 Implement the page
            2 Test the page
            3 Deploy the page"#]],
    );
    check_description(
        "Implement the page on\nPostgres and\ntest it well. Deploy it.",
        &expect![[r#"
            Sentences
            1 Implement the page on Postgres and test it well
            2 Deploy it"#]],
    );
    check_description(
        "Please write it. Also, test it. **Deploy** it.",
        &expect![[r#"
            Sentences
            1 Write it
            2 Test it
            3 **Deploy** it"#]],
    );
    check_description(
        "Write it.\n\nTest it.",
        &expect![[r#"
        Sentences
        1 Write it
        2 Test it"#]],
    );
    check_description("The page works. The tests pass.", &expect!["nothing"]);
    check_description("Write it.", &expect!["nothing"]);
    check_description("Writer's block. Tester needed. Buildings are tall.", &expect!["nothing"]);
}

#[test]
fn steps_within_a_sentence_are_parts_where_order_words_part_them() {
    check_description(
        "First export the rows, then convert them, finally import them.",
        &expect![[r#"
            Sentences
            1 Export the rows
            2 Convert them <- 1
            3 Import them <- 2"#]],
    );
    check_description(
        "Export the rows and then convert them",
        &expect![[r#"
        Sentences
        1 Export the rows
        2 Convert them <- 1"#]],
    );
    check_description(
        "Export the rows then convert them and finally import them.",
        &expect![[r#"
            Sentences
            1 Export the rows
            2 Convert them <- 1
            3 Import them <- 2"#]],
    );
    check_description(
        "Export the rows; then convert them; after that, import them.",
        &expect![[r#"
            Sentences
            1 Export the rows
            2 Convert them <- 1
            3 Import them <- 2"#]],
    );
    check_description(
        "Create a draft, critique it, revise it.",
        &expect![[r#"
        Sentences
        1 Create a draft
        2 Critique it
        3 Revise it"#]],
    );
    check_description(
        "Implement login, write tests, and deploy it.",
        &expect![[r#"
        Sentences
        1 Implement login
        2 Write tests
        3 Deploy it"#]],
    );
    check_description("Add a build, test, and deploy pipeline.", &expect!["nothing"]);
    check_description("Add create, read and update forms, then the list.", &expect!["nothing"]);
    check_description(
        "Write it, then run. Next, lint it.",
        &expect![[r#"
        Sentences
        1 Write it
        2 Run <- 1
        3 Lint it <- 2"#]],
    );
    check_description(
        "Lastly, write it. Then: test it.",
        &expect![[r#"
            Sentences
            1 Write it
            2 Test it <- 1"#]],
    );
    check_description(
        "and then and then and then build it, then then test it",
        &expect!["nothing"],
    );
    check_description(
        "After exporting, convert the rows. Export the rows.",
        &expect![[r#"
            Sentences
            1 After exporting, convert the rows <- 2
            2 Export the rows"#]],
    );
    check_description(
        "When it is done, celebrate. Once it works, ship it. Test it.",
        &expect![[r#"
            Sentences
            1 Once it works, ship it
            2 Test it"#]],
    );
}
