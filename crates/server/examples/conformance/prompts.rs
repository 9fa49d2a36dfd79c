//! The prompts that the suite asks for.

use serde_json::{Value, json};

use crate::tools::PIXEL;

/// All of them.
pub(crate) fn list() -> Value {
    let argument = |name: &str| json!({"name": name, "description": "Text.", "required": true});
    json!({"prompts": [
        {"name": "test_simple_prompt", "description": "Words."},
        {"name": "test_prompt_with_arguments", "description": "Words with others in between.",
         "arguments": [argument("arg1"), argument("arg2")]},
        {"name": "test_prompt_with_embedded_resource", "description": "With a resource.",
         "arguments": [argument("resourceUri")]},
        {"name": "test_prompt_with_image", "description": "With a picture."},
    ]})
}

/// One of them.
pub(crate) fn get(name: &str, arguments: &Value) -> Option<Value> {
    let given = |name: &str| arguments.get(name).and_then(Value::as_str).unwrap_or_default();
    let text = |text: &str| json!({"type": "text", "text": text});
    let contents = match name {
        "test_simple_prompt" => vec![text("This is a simple prompt for testing.")],
        "test_prompt_with_arguments" => {
            let (first, second) = (given("arg1"), given("arg2"));
            vec![text(&format!("Prompt with arguments: arg1='{first}', arg2='{second}'"))]
        }
        "test_prompt_with_embedded_resource" => {
            let resource = json!({
                "uri": given("resourceUri"), "mimeType": "text/plain",
                "text": "Embedded resource content for testing.",
            });
            let embedded = json!({"type": "resource", "resource": resource});
            vec![embedded, text("Please process the embedded resource above.")]
        }
        "test_prompt_with_image" => {
            let image = json!({"type": "image", "data": PIXEL, "mimeType": "image/png"});
            vec![image, text("Please analyze the image above.")]
        }
        _ => return None,
    };
    let said = contents.into_iter().map(|content| json!({"role": "user", "content": content}));
    Some(json!({"messages": said.collect::<Vec<_>>()}))
}
