//! A return as it was written, before anything is checked.
//!
//! The text is read once into a light form: what needs no unescaping is borrowed, and
//! members stay in a row, because only a handful of names is ever looked for in them.
//! Where a name stands twice, the last one counts. Nothing is judged here.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// The member that is handed on as it is, and so is read as a whole value.
const DATA: &str = "data";

/// What a child claims: the members of its return.
pub(super) struct Claim<'a> {
    pub(super) members: Members<'a>,
    /// The structured answer, if there is one.
    pub(super) data: Option<Cow<'a, Value>>,
}

/// The members of an object, in the order in which they were written.
#[derive(Default)]
pub(super) struct Members<'a>(Vec<(Cow<'a, str>, Json<'a>)>);

/// A value inside a return.
pub(super) enum Json<'a> {
    Null,
    Bool(bool),
    Number(Number),
    Text(Cow<'a, str>),
    List(Vec<Json<'a>>),
    Object(Members<'a>),
}

impl<'a> Claim<'a> {
    /// The claim that a value makes, borrowed from it.
    pub(super) fn of(object: &'a Map<String, Value>) -> Self {
        let members = object.iter().filter(|(name, _)| *name != DATA);
        let members = members.map(|(name, value)| (Cow::from(name), Json::of(value))).collect();
        let data = object.get(DATA).filter(|data| !data.is_null()).map(Cow::Borrowed);
        Self { members: Members(members), data }
    }
}

impl<'a> Members<'a> {
    /// The member of that name.
    pub(super) fn get(&self, name: &str) -> Option<&Json<'a>> {
        let mut latest_first = self.0.iter().rev();
        latest_first.find(|(known, _)| known == name).map(|(_, value)| value)
    }
}

impl<'a> Json<'a> {
    fn of(value: &'a Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(flag) => Self::Bool(*flag),
            Value::Number(number) => Self::Number(number.clone()),
            Value::String(text) => Self::Text(Cow::from(text)),
            Value::Array(items) => Self::List(items.iter().map(Self::of).collect()),
            Value::Object(object) => {
                let members = object.iter();
                let members = members.map(|(name, value)| (Cow::from(name), Self::of(value)));
                Self::Object(Members(members.collect()))
            }
        }
    }

    /// The text, if it is one.
    pub(super) fn text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    /// The number, if it is one.
    pub(super) fn number(&self) -> Option<&Number> {
        if let Self::Number(number) = self { Some(number) } else { None }
    }

    /// The flag, if it is one.
    pub(super) fn flag(&self) -> Option<bool> {
        if let Self::Bool(flag) = self { Some(*flag) } else { None }
    }

    /// The items, if it is a list.
    pub(super) fn list(&self) -> Option<&[Json<'a>]> {
        if let Self::List(items) = self { Some(items) } else { None }
    }

    /// The members, if it is an object.
    pub(super) fn object(&self) -> Option<&Members<'a>> {
        if let Self::Object(members) = self { Some(members) } else { None }
    }

    /// What kind of value it is, in words. Numbers show themselves: there it is often the
    /// size that is wrong.
    pub(super) fn kind(&self) -> Cow<'static, str> {
        match self {
            Self::Null => "null".into(),
            Self::Bool(_) => "true or false".into(),
            Self::Number(number) => format!("the number {number}").into(),
            Self::Text(_) => "text".into(),
            Self::List(_) => "a list".into(),
            Self::Object(_) => "an object".into(),
        }
    }
}

/// What kind of value stands where a return should.
pub(super) fn kind(value: &Value) -> Cow<'static, str> {
    Json::of(value).kind()
}

/// The name of a member, borrowed where nothing in it is escaped.
struct Name<'a>(Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Name<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(NameVisitor)
    }
}

struct NameVisitor;

impl<'de> Visitor<'de> for NameVisitor {
    type Value = Name<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Name<'de>, E> {
        Ok(Name(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Name<'de>, E> {
        Ok(Name(Cow::Owned(text.to_owned())))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Json<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(JsonVisitor)
    }
}

struct JsonVisitor;

impl<'de> Visitor<'de> for JsonVisitor {
    type Value = Json<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_unit<E>(self) -> Result<Json<'de>, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Json<'de>, E> {
        Ok(Json::Bool(flag))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Json<'de>, E> {
        Ok(Json::Number(number.into()))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Json<'de>, E> {
        Ok(Json::Number(number.into()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Json<'de>, E> {
        Ok(Number::from_f64(number).map_or(Json::Null, Json::Number))
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Json<'de>, E> {
        Ok(Json::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Json<'de>, E> {
        Ok(Json::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Json<'de>, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Json::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Json<'de>, A::Error> {
        let mut members = Vec::new();
        while let Some((Name(name), value)) = entries.next_entry()? {
            members.push((name, value));
        }
        Ok(Json::Object(Members(members)))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Claim<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ClaimVisitor)
    }
}

struct ClaimVisitor;

impl<'de> Visitor<'de> for ClaimVisitor {
    type Value = Claim<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Claim<'de>, A::Error> {
        let mut claim = Claim { members: Members::default(), data: None };
        while let Some(Name(name)) = entries.next_key()? {
            if name == DATA {
                let data = entries.next_value::<Value>()?;
                claim.data = Some(Cow::Owned(data)).filter(|data: &Cow<'_, Value>| !data.is_null());
            } else {
                claim.members.0.push((name, entries.next_value()?));
            }
        }
        Ok(claim)
    }
}
