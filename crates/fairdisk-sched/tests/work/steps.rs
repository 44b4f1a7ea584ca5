//! Counts the instructions of a call by single-stepping the processor. Unlike a time, the count is
//! the same in every run, whatever else the machine does; but it is slow, so only few calls are
//! counted.

use std::cell::Cell;

thread_local! {
    static STEPS: Cell<u64> = const { Cell::new(0) };
}

/// Whether instructions can be counted on this machine.
pub(crate) fn are_counted() -> bool {
    let few = count(|| std::hint::black_box((0..10).sum::<u64>())).1;
    let more = count(|| (0..100).for_each(|at| _ = std::hint::black_box(at))).1;
    more > few && more >= 100
}

/// The result of `work`, and how many instructions it took.
#[cfg(target_arch = "x86_64")]
pub(crate) fn count<T>(work: impl FnOnce() -> T) -> (T, u64) {
    use std::sync::Once;

    const SIGTRAP: i32 = 5;
    static READY: Once = Once::new();
    unsafe extern "C" {
        fn signal(number: i32, handler: usize) -> usize;
    }
    extern "C" fn on_step(_: i32) {
        STEPS.with(|steps| steps.set(steps.get() + 1));
    }
    READY.call_once(|| {
        let handler: extern "C" fn(i32) = on_step;
        // SAFETY: the handler touches only a number of its own thread that needs no allocation, so
        // it may run between any two instructions.
        unsafe { signal(SIGTRAP, handler as usize) };
    });
    /// Sets or clears the flag that makes the processor stop after each instruction.
    fn trap(on: bool) {
        let (set, keep) = if on { (0x100_u64, !0_u64) } else { (0, !0x100) };
        // SAFETY: it changes one flag of this thread, for which there is a handler, and leaves the
        // stack as it was.
        unsafe {
            std::arch::asm!(
                "pushfq", "and qword ptr [rsp], {keep}", "or qword ptr [rsp], {set}", "popfq",
                keep = in(reg) keep, set = in(reg) set,
            );
        }
    }
    /// Ends counting even if `work` panics.
    struct End;
    impl Drop for End {
        fn drop(&mut self) {
            trap(false);
        }
    }
    let before = STEPS.with(Cell::get);
    let end = End;
    trap(true);
    let result = work();
    drop(end);
    (result, STEPS.with(Cell::get) - before)
}

/// On other processors instructions cannot be counted.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn count<T>(work: impl FnOnce() -> T) -> (T, u64) {
    (work(), STEPS.with(Cell::get))
}
