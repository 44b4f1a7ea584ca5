//! A list that mostly has one element, which it stores without an allocation.

/// A list of mostly one element.
pub(super) struct Few<T> {
    first: Option<T>,
    /// Further elements; empty if there is no first one.
    more: Vec<T>,
}

impl<T> Default for Few<T> {
    fn default() -> Self {
        Self { first: None, more: Vec::new() }
    }
}

impl<T> Few<T> {
    /// A list of one element.
    pub(super) const fn of(element: T) -> Self {
        Self { first: Some(element), more: Vec::new() }
    }

    pub(super) fn push(&mut self, element: T) {
        match self.first {
            None => self.first = Some(element),
            Some(_) => self.more.push(element),
        }
    }

    pub(super) const fn len(&self) -> usize {
        self.first.is_some() as usize + self.more.len()
    }

    /// Removes and returns the element, if it is the only one.
    pub(super) fn take_only(&mut self) -> Option<T> {
        if self.more.is_empty() { self.first.take() } else { None }
    }

    /// Passes the elements to `to`, in order.
    pub(super) fn each(self, mut to: impl FnMut(T)) {
        self.first.into_iter().for_each(&mut to);
        if !self.more.is_empty() {
            self.more.into_iter().for_each(to);
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        self.first.iter().chain(&self.more)
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.first.iter_mut().chain(&mut self.more)
    }

    /// The element with index `at`, if there is one.
    pub(super) fn get_mut(&mut self, at: usize) -> Option<&mut T> {
        match at.checked_sub(1) {
            None => self.first.as_mut(),
            Some(at) => self.more.get_mut(at),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_takes_no_memory_and_all_come_in_order() {
        let mut few = Few::default();
        for count in 0..4 {
            assert_eq!(few.len(), count);
            assert_eq!(few.more.capacity() > 0, count > 1);
            few.push(count);
        }
        *few.get_mut(2).unwrap() = 7;
        few.iter_mut().for_each(|element| *element += 1);
        assert_eq!(few.iter().copied().collect::<Vec<_>>(), [1, 2, 8, 4]);
        assert_eq!(few.get_mut(4), None);
        assert_eq!(few.take_only(), None, "there are others");
        let mut given = Vec::new();
        few.each(|element| given.push(element));
        assert_eq!(given, [1, 2, 8, 4]);
    }

    #[test]
    fn one_can_be_taken_if_there_is_no_other() {
        let mut few = Few::default();
        assert_eq!(few.take_only(), None);
        few.push(5);
        assert_eq!(few.take_only(), Some(5));
        assert_eq!(few.len(), 0);
    }
}
