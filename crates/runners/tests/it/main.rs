//! Agent files of every vendor, programs and their keepers, workspaces.

#![cfg(test)]

mod agent_files;
mod artifacts;
mod claude_code;
mod codex;
mod command;
mod contract;
mod fence;
mod gemini;
mod opencode;
mod processes;
mod workspaces;
