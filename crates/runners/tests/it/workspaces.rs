//! Workspaces with real git in scratch repositories.

mod alike;
mod beside;
mod built_on;
mod counts;
mod crash;
mod crowd;
mod custody;
mod dir;
mod going_back;
mod hostile;
mod kinds;
mod large;
mod layers;
mod namespace;
mod nested;
mod odd;
mod plain;
mod project;
mod queue;
mod resolve;
mod reuse;
mod round;
mod set_up;
mod shapes;
mod submodules;
mod taken_back;
