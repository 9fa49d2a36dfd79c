//! Agent files of every vendor, from the wild.

mod agent_files;
