//! One conversation with an agent, whatever it is held over.

use std::future::Future;

use super::charge::Charge;
use super::ear::Ear;
use super::event::Outcome;

/// A conversation that can be gone on with.
pub trait Dialogue {
    /// Says something and listens until the agent has nothing more to say. When the ear
    /// is told to stop, it asks the program to, and ends soon.
    fn turn(&mut self, charge: &Charge, text: &str, ear: &mut Ear)
    -> impl Future<Output = Outcome>;
}
