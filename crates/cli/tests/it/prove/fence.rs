//! A child that wants out. Everything it tries is tried without the fence as well, so
//! that what the fence refuses is known to be possible otherwise.

mod attack;
mod kernel;
mod opened;
mod settings;
