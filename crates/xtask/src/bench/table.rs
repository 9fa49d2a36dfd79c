//! Figures beside the limits they are meant to keep.

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};

/// How much a flat case may differ from the one it is compared with.
const FLAT_WITHIN: f64 = 1.25;

/// A case as the benchmark itself describes it.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// Its name.
    pub name: String,
    /// How often it is run to count instructions.
    pub rounds: u64,
    /// What it is meant to reach.
    pub reach: Reach,
}

/// What a case is meant to reach.
#[derive(Clone, Debug, PartialEq)]
pub enum Reach {
    /// At most so many nanoseconds a round.
    Nanos(f64),
    /// A round handles so many things, and a second at least so many.
    PerSecond {
        /// Things in one round.
        things: f64,
        /// Things in one second.
        at_least: f64,
    },
    /// As many instructions as another case, within a quarter.
    Flat {
        /// The other case.
        with: String,
    },
}

/// What was measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// Instructions a round.
    pub instructions: f64,
    /// Nanoseconds a round.
    pub nanos: Option<f64>,
}

/// A case, its figures and what they are worth.
pub struct Row {
    case: Case,
    measured: Measured,
    got: String,
    wanted: String,
    kept: Option<bool>,
}

impl Case {
    /// Reads the line that the benchmark prints about a case.
    pub fn from_json(line: &str) -> Result<Self> {
        let value: Value = serde_json::from_str(line).context("a case is not JSON")?;
        let text = |key: &str| value.get(key).and_then(Value::as_str);
        let name = text("name").context("a case has no name")?;
        let number = |key: &str| value.get(key).and_then(Value::as_f64);
        let reach = if let Some(nanos) = number("nanos") {
            Reach::Nanos(nanos)
        } else if let (Some(things), Some(at_least)) = (number("things"), number("perSecond")) {
            Reach::PerSecond { things, at_least }
        } else if let Some(with) = text("flatWith") {
            Reach::Flat { with: with.to_owned() }
        } else {
            bail!("the case `{name}` has no limit");
        };
        let rounds = value.get("rounds").and_then(Value::as_u64);
        let rounds = rounds.context("a case has no rounds")?;
        Ok(Self { name: name.to_owned(), rounds, reach })
    }
}

/// Compares each case with its limit.
pub fn judged(cases: Vec<(Case, Measured)>) -> Vec<Row> {
    let others = cases.clone();
    let rows = cases.into_iter().map(|(case, measured)| {
        let (got, wanted, kept) = match &case.reach {
            Reach::Nanos(limit) => {
                let got = measured.nanos.map(time).unwrap_or_default();
                (got, format!("≤ {}", time(*limit)), measured.nanos.map(|nanos| nanos <= *limit))
            }
            Reach::PerSecond { things, at_least } => {
                let rate = measured.nanos.map(|nanos| things * 1e9 / nanos);
                let got = rate.map(|rate| format!("{}/s", count(rate))).unwrap_or_default();
                (got, format!("≥ {}/s", count(*at_least)), rate.map(|rate| rate >= *at_least))
            }
            Reach::Flat { with } => {
                let other = others.iter().find(|(other, _)| other.name == *with);
                let ratio = other.map(|(_, other)| measured.instructions / other.instructions);
                let got = ratio.map(|ratio| format!("× {ratio:.2}")).unwrap_or_default();
                (got, format!("as {with}"), ratio.map(|ratio| ratio <= FLAT_WITHIN))
            }
        };
        Row { case, measured, got, wanted, kept }
    });
    rows.collect()
}

/// The rows as a table for people.
pub fn text(rows: &[Row]) -> String {
    let head = ("case", "instructions", "time", "got", "wanted");
    let mut lines =
        vec![format!("{:<28} {:>14} {:>10} {:>12}  {}", head.0, head.1, head.2, head.3, head.4)];
    for row in rows {
        let verdict = match row.kept {
            Some(true) => "",
            Some(false) => "  MISSED",
            None => "  not measured",
        };
        let nanos = row.measured.nanos.map(time).unwrap_or_default();
        let instructions = grouped(row.measured.instructions);
        let (name, got, wanted) = (&row.case.name, &row.got, &row.wanted);
        lines.push(format!(
            "{name:<28} {instructions:>14} {nanos:>10} {got:>12}  {wanted}{verdict}"
        ));
    }
    lines.join("\n")
}

impl Row {
    /// Whether the limit was measured and missed.
    pub fn is_missed(&self) -> bool {
        self.kept == Some(false)
    }

    /// The row for programs.
    pub fn to_json(&self) -> Value {
        json!({
            "name": self.case.name,
            "instructions": self.measured.instructions,
            "nanos": self.measured.nanos,
            "wanted": self.wanted,
            "kept": self.kept,
        })
    }
}

/// A span of time with a fitting unit.
fn time(nanos: f64) -> String {
    match nanos {
        n if n < 1e3 => format!("{n:.1} ns"),
        n if n < 1e6 => format!("{:.2} µs", n / 1e3),
        n if n < 1e9 => format!("{:.2} ms", n / 1e6),
        n => format!("{:.2} s", n / 1e9),
    }
}

/// A large number with a fitting unit.
fn count(number: f64) -> String {
    match number {
        n if n < 1e3 => format!("{n:.0}"),
        n if n < 1e6 => format!("{:.1} k", n / 1e3),
        n if n < 1e9 => format!("{:.1} M", n / 1e6),
        n => format!("{:.1} G", n / 1e9),
    }
}

/// A number with separators: `12,345`.
fn grouped(number: f64) -> String {
    let digits = format!("{number:.0}");
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
