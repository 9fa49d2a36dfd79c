//! Agents that speak the Agent Client Protocol, played from what real ones said.

mod begin;
mod human;
mod permits;
mod replay;
mod stage;
