//! Which model a session is to have: pure.
//!
//! Agents offer models in one of two ways. One that does not offer what is wanted would go on
//! with another, and nobody would know.

use serde::Deserialize as _;
use serde_json::{Value, json};

use super::wire::{Offered, Session, Setting};

/// Models that are named in a failure.
const MAX_NAMED: usize = 12;

/// What has to be asked of an agent so that it takes that model; nothing where it does
/// already. Else why it cannot be had.
pub(super) fn choose(
    session: &Session,
    wanted: &str,
) -> Result<Option<(&'static str, Value)>, String> {
    let id = &session.session_id;
    let models = session.models.iter().flat_map(|models| &models.available_models);
    let models: Vec<&str> = models.map(|model| model.model_id.as_str()).collect();
    if models.contains(&wanted) {
        let params = json!({"sessionId": id, "modelId": wanted});
        return Ok(Some(("session/set_model", params)));
    }
    let settings = session.config_options.iter().flatten();
    let mut settings = settings.filter_map(|setting| Setting::deserialize(setting).ok());
    let setting = settings.find(is_model);
    let values: Vec<&str> = setting.iter().flat_map(|setting| values(&setting.options)).collect();
    if let Some(setting) = &setting {
        if setting.current_value.as_str() == Some(wanted) {
            return Ok(None);
        }
        if values.contains(&wanted) {
            let params = json!({"sessionId": id, "configId": setting.id, "value": wanted});
            return Ok(Some(("session/set_config_option", params)));
        }
    }
    let mut offered: Vec<&str> = models.into_iter().chain(values).collect();
    if offered.is_empty() {
        return Err(format!(
            "The agent lets nobody choose its model, and `{wanted}` is wanted. Take `model` out \
             of the agent's file, or set it in the configuration of its program."
        ));
    }
    let more = if offered.len() > MAX_NAMED { ", …" } else { "" };
    offered.truncate(MAX_NAMED);
    let offered = offered.join(", ");
    Err(format!("The agent does not offer the model `{wanted}`. It offers: {offered}{more}"))
}

fn is_model(setting: &Setting) -> bool {
    setting.category.as_deref().unwrap_or(&setting.id) == "model"
}

/// All values, those under headings included.
fn values(offered: &[Offered]) -> impl Iterator<Item = &str> {
    offered.iter().flat_map(|one| {
        let below = one.options.iter().filter_map(|below| below.value.as_deref());
        one.value.as_deref().into_iter().chain(below)
    })
}
