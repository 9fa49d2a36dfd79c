//! Where the workspace is, and which crates are in it.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde_json::Value;

use crate::process;

/// The folder that holds the workspace.
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).to_owned()
}

/// The build folder, wherever the user keeps it.
pub fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| root().join("target"), |dir| root().join(dir))
}

/// A crate of the workspace and what it depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Package {
    /// Its name in `Cargo.toml`.
    pub name: String,
    /// Its folder below `crates/`.
    pub folder: String,
    /// What it depends on.
    pub dependencies: Vec<Dependency>,
}

/// One line of a crate's dependencies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dependency {
    /// The name of the crate.
    pub name: String,
    /// Whether only tests and benchmarks use it.
    pub dev: bool,
}

/// The crates of the workspace, as cargo sees them.
pub fn packages() -> Result<Vec<Package>> {
    let mut command = process::cargo(["metadata", "--no-deps", "--format-version=1", "--locked"]);
    let text = process::stdout_of(&mut command)?;
    let metadata: Value = serde_json::from_str(&text).context("cargo metadata is not JSON")?;
    let packages = metadata.get("packages").and_then(Value::as_array);
    let packages = packages.context("cargo metadata has no packages")?;
    packages.iter().map(package).collect()
}

fn package(value: &Value) -> Result<Package> {
    let name = text(value, "name")?;
    let manifest = PathBuf::from(text(value, "manifest_path")?);
    let folder = manifest.parent().and_then(Path::file_name);
    let folder = folder.with_context(|| format!("{name} has no folder"))?;
    let dependencies = value.get("dependencies").and_then(Value::as_array);
    let dependencies = dependencies.into_iter().flatten();
    let dependencies = dependencies.map(|dependency| {
        Ok(Dependency {
            name: text(dependency, "name")?,
            dev: dependency.get("kind").is_some_and(|kind| kind == "dev"),
        })
    });
    Ok(Package {
        name,
        folder: folder.to_string_lossy().into_owned(),
        dependencies: dependencies.collect::<Result<_>>()?,
    })
}

fn text(value: &Value, key: &str) -> Result<String> {
    let found = value.get(key).and_then(Value::as_str);
    let found = found.with_context(|| format!("cargo metadata lacks `{key}`"))?;
    Ok(found.to_owned())
}
