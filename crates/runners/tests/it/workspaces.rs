//! Workspaces with real git in scratch repositories.

mod counts;
mod crowd;
mod going_back;
mod hostile;
mod layers;
mod nested;
mod plain;
mod project;
mod reuse;
mod round;
mod shapes;
