//! A queue that never grows.

use std::collections::VecDeque;
use std::fmt::{self, Display};

mod shelf;

pub const SIZE: usize = 16;

/// A queue of fixed size.
///
/// The oldest goes first.
#[derive(Debug, Clone)]
pub struct Ring<T> {
    items: VecDeque<T>,
}

pub struct Id(pub u64);

#[derive(Debug)]
pub enum Full {
    Soft,
    Hard(usize),
}

pub type Bytes = Ring<u8>;

/// What can be emptied.
pub trait Drain {
    type Item;

    fn drain_one(&mut self) -> Option<Self::Item>;

    fn drain_all(&mut self) -> usize {
        let mut count = 0;
        while self.drain_one().is_some() {
            count += 1;
        }
        count
    }
}

impl<T> Ring<T> {
    /// An empty ring.
    #[must_use]
    pub fn new() -> Self {
        Ring { items: VecDeque::with_capacity(SIZE) }
    }

    pub fn push(&mut self, item: T) -> Result<(), Full> {
        if self.items.len() == SIZE {
            return Err(Full::Hard(SIZE));
        }
        self.items.push_back(item);
        Ok(())
    }
}

impl<T> Drain for Ring<T> {
    type Item = T;

    fn drain_one(&mut self) -> Option<T> {
        self.items.pop_front()
    }
}

impl Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.0)
    }
}

macro_rules! ring {
    ($($item:expr),*) => {
        make_ring(vec![$($item),*])
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_ring_refuses() {
        let mut ring = Ring::new();
        assert!(ring.push(1).is_ok());
    }
}
