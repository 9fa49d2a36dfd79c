//! Workspaces with real git in scratch repositories.

mod counts;
mod crowd;
mod going_back;
mod hostile;
mod nested;
mod plain;
mod project;
mod round;
mod shapes;
