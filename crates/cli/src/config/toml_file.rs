//! Settings in TOML, with the line of every key.

use std::collections::BTreeMap;

use legation_core::config::{Fault, KeyPath, Layer, Mark, Origin, Problem};
use serde_json::{Map, Number, Value};
use toml::Spanned;
use toml::de::{DeInteger, DeTable, DeValue};

use super::lines::Lines;

/// Reads a TOML file.
pub(super) fn layer(text: &str, origin: Origin, file: &str) -> Layer {
    let lines = Lines::new(text);
    let table = match DeTable::parse(text) {
        Ok(table) => table,
        Err(problem) => {
            let at = problem.span().map(|span| lines.at(span.start));
            let reason = problem.message().replace('\n', ", ");
            return Layer::unreadable(origin, file, at, reason);
        }
    };
    let mut reader = Reader { lines, marks: BTreeMap::new(), faults: Vec::new() };
    let value = reader.table(&KeyPath::default(), table.get_ref());
    let mut layer = Layer::new(origin, Value::Object(value)).in_file(file, reader.marks);
    for (key, reason) in reader.faults {
        let place = layer.place(&key);
        let fault = Fault::Unreadable { reason };
        layer.problems.push(Problem { place, key, fault });
    }
    layer
}

struct Reader<'a> {
    lines: Lines<'a>,
    marks: BTreeMap<KeyPath, Mark>,
    faults: Vec<(KeyPath, String)>,
}

impl Reader<'_> {
    fn table(&mut self, path: &KeyPath, table: &DeTable<'_>) -> Map<String, Value> {
        let mut fields = Map::new();
        for (key, value) in table {
            let path = path.child(key.get_ref());
            let line = self.lines.line(key.span().start);
            self.marks.insert(path.clone(), Mark::Line(line));
            if let Some(value) = self.value(&path, value) {
                fields.insert(key.get_ref().to_string(), value);
            }
        }
        fields
    }

    /// The same value in JSON; none, and a fault, where JSON has no such thing.
    fn value(&mut self, path: &KeyPath, value: &Spanned<DeValue<'_>>) -> Option<Value> {
        match value.get_ref() {
            DeValue::String(text) => Some(Value::from(text.as_ref())),
            DeValue::Boolean(flag) => Some(Value::from(*flag)),
            DeValue::Integer(integer) => Some(whole(integer)),
            DeValue::Float(float) => {
                let number = float.as_str().parse().ok().and_then(Number::from_f64);
                if number.is_none() {
                    self.fault(path, &format!("= {float} is not a finite number"));
                }
                number.map(Value::Number)
            }
            DeValue::Datetime(date) => {
                self.fault(path, &format!("= {date} is a date, which no key takes"));
                None
            }
            DeValue::Array(items) => {
                let mut values = Vec::with_capacity(items.len());
                for (index, item) in items.iter().enumerate() {
                    let path = path.child(&index.to_string());
                    let line = self.lines.line(item.span().start);
                    self.marks.insert(path.clone(), Mark::Line(line));
                    values.extend(self.value(&path, item));
                }
                Some(Value::Array(values))
            }
            DeValue::Table(table) => Some(Value::Object(self.table(path, table))),
        }
    }

    fn fault(&mut self, path: &KeyPath, reason: &str) {
        self.faults.push((path.clone(), reason.to_owned()));
    }
}

/// A whole number; one that fits nowhere becomes a float, to be refused as out of range by name.
fn whole(integer: &DeInteger<'_>) -> Value {
    let (text, radix) = (integer.as_str(), integer.radix());
    i64::from_str_radix(text, radix)
        .map(Value::from)
        .or_else(|_| u64::from_str_radix(text, radix).map(Value::from))
        .unwrap_or_else(|_| {
            let float = i128::from_str_radix(text, radix).map(|wide| wide as f64);
            Value::from(float.unwrap_or(f64::MAX))
        })
}
