//! Agent files of every vendor, from the wild.

#![cfg(test)]

mod agent_files;
mod artifacts;
mod command;
mod fence;
mod processes;
mod workspaces;
