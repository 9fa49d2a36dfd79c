//! Agent files of every vendor, programs and their keepers, workspaces.

#![cfg(test)]

mod acp;
mod agent_files;
mod artifacts;
mod claude_code;
mod codex;
mod command;
mod contract;
mod fence;
mod gemini;
mod llm;
mod opencode;
mod pricing;
mod processes;
mod servers;
mod talked;
mod vendors;
mod workspaces;
