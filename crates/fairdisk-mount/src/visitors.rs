//! Connections of clients, each of which has a thread, up to a limit.
//!
//! When the limit is reached, the longest silent connection is closed, of the user who has the most
//! connections, so that nobody can keep others out by being silent. A connection that is being
//! answered stays.

use crate::trouble::Seldom;
use rustix::net::sockopt::socket_peercred;
use std::collections::BTreeMap;
use std::io;
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// The pause after a failed accept(2), since a lack of resources may be temporary.
const PAUSE: Duration = Duration::from_millis(100);

/// The time that connections being answered have at the end.
const FAREWELL: Duration = Duration::from_secs(5);

/// A listening socket.
pub(crate) trait Door: Send + Sync + 'static {
    /// The type of its connections.
    type Visitor: Visitor;
    /// Waits for the next connection.
    fn accept(&self) -> io::Result<Self::Visitor>;
    /// Closes the socket: [`accept`](Self::accept) fails from now on, also for a thread that waits
    /// in it.
    fn close(&self);
}

/// A connection.
pub(crate) trait Visitor: Send + Sync + 'static {
    /// The user id of the client, if it can be determined.
    fn user(&self) -> Option<u32>;
    /// Shuts down the connection in one direction or both, even while other threads read or write.
    fn hang_up(&self, how: Shutdown);
}

/// Accepts connections until it is dropped.
pub(crate) struct Visitors<D: Door> {
    shared: Arc<Shared<D>>,
    thread: Option<JoinHandle<()>>,
}

/// The place of a connection, released when dropped.
pub(crate) struct Place<D: Door> {
    shared: Arc<Shared<D>>,
    number: u64,
}

struct Shared<D: Door> {
    door: D,
    name: &'static str,
    places: usize,
    room: Mutex<Room<D::Visitor>>,
    /// Signals that a connection has ended.
    left: Condvar,
    crowded: Seldom,
}

struct Room<V> {
    seats: BTreeMap<u64, Seat<V>>,
    /// A counter of arrivals and requests, by which connections are ordered.
    last: u64,
    closing: bool,
}

struct Seat<V> {
    visitor: Arc<V>,
    /// The value of the counter when the client was last heard of.
    heard: u64,
    is_answered: bool,
}

impl<D: Door> std::fmt::Debug for Visitors<D> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Visitors({})", self.shared.name)
    }
}

impl<D: Door> Visitors<D> {
    /// Accepts connections at `door`, up to `places` at once, and runs `talk` for each on its own
    /// thread.
    pub(crate) fn receive(
        name: &'static str,
        door: D,
        places: usize,
        talk: impl Fn(&D::Visitor, &Place<D>) + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let room = Room { seats: BTreeMap::new(), last: 0, closing: false };
        let (room, left, crowded) = (Mutex::new(room), Condvar::new(), Seldom::new());
        let shared = Arc::new(Shared { door, name, places, room, left, crowded });
        let (own, talk) = (Arc::clone(&shared), Arc::new(talk));
        let thread = builder(name).spawn(move || {
            while let Some(visitor) = own.next() {
                let Some(place) = own.seat(&visitor) else { continue };
                let talk = Arc::clone(&talk);
                // If no thread can be started, the place is released and the connection is closed.
                let _ = builder(own.name).spawn(move || talk(&visitor, &place));
            }
        })?;
        Ok(Self { shared, thread: Some(thread) })
    }
}

/// Resets the CPU priority of this thread, because it works for a client that only queries and
/// should not run before threads that serve requests for the disk.
pub(crate) fn go_with_others() {
    // Without the permission, the process did not have a raised priority in the first place.
    let _ = rustix::process::setpriority_process(None, 0);
}

fn builder(name: &str) -> std::thread::Builder {
    std::thread::Builder::new().name(format!("fairdisk-{name}"))
}

impl<D: Door> Drop for Visitors<D> {
    fn drop(&mut self) {
        self.shared.room().closing = true;
        self.shared.door.close();
        if let Some(thread) = self.thread.take() {
            // The panic of a thread has already been reported.
            let _ = thread.join();
        }
        // Answers in progress are still sent, but no further requests are read.
        self.shared.room().hang_up(Shutdown::Read);
        let there = |room: &mut Room<D::Visitor>| !room.seats.is_empty();
        let waited = self.shared.left.wait_timeout_while(self.shared.room(), FAREWELL, there);
        let (mut room, _) = waited.unwrap_or_else(PoisonError::into_inner);
        room.hang_up(Shutdown::Both);
    }
}

impl<D: Door> Shared<D> {
    /// The next connection; `None` once the door is closed.
    fn next(&self) -> Option<Arc<D::Visitor>> {
        loop {
            let visitor = self.door.accept();
            if self.room().closing {
                return None;
            }
            match visitor {
                Ok(visitor) => return Some(Arc::new(visitor)),
                Err(_) => fairdisk_plane::pause(PAUSE),
            }
        }
    }

    /// A place for a new connection; `None` if all connections are being answered.
    fn seat(self: &Arc<Self>, visitor: &Arc<D::Visitor>) -> Option<Place<D>> {
        let mut room = self.room();
        if room.seats.len() >= self.places {
            if let Some(unsaid) = self.crowded.pass() {
                let (at, most) = (self.name, self.places);
                tracing::warn!(at, most, unsaid, "too many connections");
            }
            let number = room.most_silent()?;
            let seat = room.seats.remove(&number)?;
            seat.visitor.hang_up(Shutdown::Both);
        }
        room.last += 1;
        let number = room.last;
        let seat = Seat { visitor: Arc::clone(visitor), heard: number, is_answered: false };
        room.seats.insert(number, seat);
        Some(Place { shared: Arc::clone(self), number })
    }

    fn room(&self) -> MutexGuard<'_, Room<D::Visitor>> {
        self.room.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<V: Visitor> Room<V> {
    /// The longest silent connection, of the user with the most connections.
    fn most_silent(&self) -> Option<u64> {
        let mut users: BTreeMap<Option<u32>, usize> = BTreeMap::new();
        for seat in self.seats.values() {
            *users.entry(seat.visitor.user()).or_default() += 1;
        }
        let silent = self.seats.iter().filter(|(_, seat)| !seat.is_answered);
        let rank = |seat: &Seat<V>| (users[&seat.visitor.user()], std::cmp::Reverse(seat.heard));
        silent.max_by_key(|(_, seat)| rank(seat)).map(|(number, _)| *number)
    }

    fn hang_up(&mut self, how: Shutdown) {
        self.seats.values().for_each(|seat| seat.visitor.hang_up(how));
    }
}

impl<D: Door> Place<D> {
    /// Computes the answer to a request. The connection keeps its place meanwhile.
    pub(crate) fn answer<T>(&self, answer: impl FnOnce() -> T) -> T {
        self.mark(true);
        let answer = answer();
        self.mark(false);
        answer
    }

    fn mark(&self, is_answered: bool) {
        let mut room = self.shared.room();
        room.last += 1;
        let last = room.last;
        if let Some(seat) = room.seats.get_mut(&self.number) {
            (seat.heard, seat.is_answered) = (last, is_answered);
        }
    }
}

impl<D: Door> Drop for Place<D> {
    fn drop(&mut self) {
        let gone = self.shared.room().seats.remove(&self.number);
        drop(gone);
        self.shared.left.notify_all();
    }
}

impl Door for UnixListener {
    type Visitor = UnixStream;

    fn accept(&self) -> io::Result<UnixStream> {
        Self::accept(self).map(|(stream, _)| stream)
    }

    fn close(&self) {
        let _ = rustix::net::shutdown(self, rustix::net::Shutdown::Both);
    }
}

impl Visitor for UnixStream {
    fn user(&self) -> Option<u32> {
        socket_peercred(self).ok().map(|peer| peer.uid.as_raw())
    }

    fn hang_up(&self, how: Shutdown) {
        let _ = self.shutdown(how);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read as _, Write as _};
    use std::sync::mpsc;

    /// Clients that connect one by one, each as a given user.
    struct Sent(Mutex<mpsc::Receiver<Guest>>);

    struct Guest(u32, UnixStream);

    impl Door for Sent {
        type Visitor = Guest;

        fn accept(&self) -> io::Result<Guest> {
            let next = self.0.lock().unwrap().recv();
            next.map_err(|_| io::ErrorKind::NotConnected.into())
        }

        fn close(&self) {}
    }

    impl Visitor for Guest {
        fn user(&self) -> Option<u32> {
            Some(self.0)
        }

        fn hang_up(&self, how: Shutdown) {
            self.1.hang_up(how);
        }
    }

    /// Sends one byte to begin with, and then echoes every byte.
    fn echo(guest: &Guest, place: &Place<Sent>) {
        let mut stream = &guest.1;
        let mut byte = [b'!'];
        while stream.write_all(&byte).is_ok() && matches!(stream.read(&mut byte), Ok(1)) {
            place.answer(|| ());
        }
    }

    fn ask(mut stream: &UnixStream) -> Option<u8> {
        let mut byte = [b'?'];
        stream.write_all(&byte).ok()?;
        (stream.read(&mut byte).ok()? == 1).then_some(byte[0])
    }

    #[test]
    fn who_is_silent_longest_makes_room_and_those_of_one_user_first() {
        let (send, receive) = mpsc::channel();
        let visitors =
            Visitors::receive("test", Sent(Mutex::new(receive)), 3, echo).expect("a thread");
        let come = |user| {
            let (mut own, theirs) = UnixStream::pair().expect("a pair");
            send.send(Guest(user, theirs)).expect("somebody lets them in");
            let mut greeting = [0];
            own.read_exact(&mut greeting).expect("there is room");
            own
        };
        let root = come(0);
        let [first, second] = [come(7), come(7)];
        assert_eq!(ask(&first), Some(b'?'));
        let third = come(7);
        assert_eq!(ask(&second), None, "it had been silent longer than the first");
        let fourth = come(7);
        assert_eq!((ask(&first), ask(&root)), (None, Some(b'?')), "root has fewer places");
        assert_eq!((ask(&third), ask(&fourth)), (Some(b'?'), Some(b'?')));
        drop(send);
        drop(visitors);
        for stream in [root, third, fourth] {
            assert_eq!(ask(&stream), None, "all are hung up on at the end");
        }
    }
}
