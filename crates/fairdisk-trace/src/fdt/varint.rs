//! Numbers of variable length.

/// Appends a number.
pub(super) fn put(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Takes a number from the front of `bytes`; `None` if there is none.
pub(super) fn take(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (first, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(first & 0x7f) << shift;
        if first & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

/// A difference as a number: small ones of either sign become small.
pub(super) const fn zigzag(to: u64, from: u64) -> u64 {
    let difference = to.wrapping_sub(from) as i64;
    ((difference << 1) ^ (difference >> 63)) as u64
}

/// The number that is so far from `from`.
pub(super) const fn unzigzag(number: u64, from: u64) -> u64 {
    let difference = (number >> 1) as i64 ^ -((number & 1) as i64);
    from.wrapping_add(difference as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back() {
        for number in [0, 1, 127, 128, 16_383, 16_384, u64::MAX >> 1, u64::MAX] {
            let mut bytes = Vec::new();
            put(&mut bytes, number);
            assert_eq!(take(&mut &bytes[..]), Some(number));
            assert_eq!(take(&mut &bytes[..bytes.len() - 1]), None, "it is cut off");
            for from in [0, number, u64::MAX, 5] {
                assert_eq!(unzigzag(zigzag(number, from), from), number);
            }
        }
        assert_eq!([zigzag(9, 10), zigzag(11, 10)], [1, 2]);
    }
}
