//! What an elevator in a test, which watches only some calls, leaves to the `Fifo` in its field
//! `fifo`.

/// Implements these methods of `Elevator`.
macro_rules! leave_to_fifo {
    (@ admit) => {
        fn admit(
            &mut self,
            now: fairdisk_core::Instant,
            request: &fairdisk_core::Request,
        ) -> fairdisk_core::Admission {
            self.fifo.admit(now, request)
        }
    };
    (@ decide) => {
        fn decide(&mut self, now: fairdisk_core::Instant) -> fairdisk_core::Decision {
            self.fifo.decide(now)
        }
    };
    (@ complete) => {
        fn complete(
            &mut self,
            now: fairdisk_core::Instant,
            completion: &fairdisk_core::Completion,
        ) {
            self.fifo.complete(now, completion);
        }
    };
    (@ withdraw) => {
        fn withdraw(&mut self, now: fairdisk_core::Instant, id: fairdisk_core::RequestId) {
            self.fifo.withdraw(now, id);
        }
    };
    (@ describe) => {
        fn describe(&self) -> fairdisk_core::Description {
            self.fifo.describe()
        }
    };
    (@ drain) => {
        fn drain(
            &mut self,
            now: fairdisk_core::Instant,
        ) -> Option<fairdisk_core::RequestId> {
            self.fifo.drain(now)
        }
    };
    ($($method:ident)+) => {
        $(leave_to_fifo!(@ $method);)+
    };
}
