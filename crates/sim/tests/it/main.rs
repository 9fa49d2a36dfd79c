//! The simulator itself: the same seed is the same world.
