use legation_server::mcp::tools;

#[test]
fn all_tools_together_are_small() {
    let listed = serde_json::to_string(&tools::all()).unwrap();
    assert!(listed.len() < tools::MAX_BYTES, "{} bytes", listed.len());
}

#[test]
fn every_tool_takes_an_object_answers_with_one_and_says_what_it_does() {
    let tools = tools::all();
    assert_eq!(tools.len(), 9);
    for tool in tools {
        assert_eq!(tool.input_schema.get("type").unwrap(), "object", "{}", tool.name);
        let answer = tool.output_schema.unwrap_or_else(|| panic!("{} answers what?", tool.name));
        assert_eq!(answer.get("type").unwrap(), "object", "{}", tool.name);
        assert!(tool.description.is_some_and(|text| text.len() > 20), "{}", tool.name);
    }
}
