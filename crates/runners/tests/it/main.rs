//! Agent files of every vendor, programs and their keepers, workspaces.

#![cfg(test)]

mod acp;
mod agent_files;
mod artifacts;
mod command;
mod fence;
mod llm;
mod processes;
mod talked;
mod workspaces;
