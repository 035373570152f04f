use crate::Ring;

pub fn stacked(count: usize) -> Ring<usize> {
    let mut ring = Ring::new();
    for number in 0..count {
        let _ = ring.push(number);
    }
    ring
}
