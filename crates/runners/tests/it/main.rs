//! Agent files of every vendor, from the wild.

#![cfg(test)]

mod agent_files;
mod artifacts;
mod command;
mod processes;
mod workspaces;
