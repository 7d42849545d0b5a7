//! The buffer through which kernels ask the host for something.
//!
//! A wave takes a packet from a stack of free ones, fills it, puts it onto a stack of those that are ready,
//! and waits until the host has cleared a flag of it (ROCm device libraries, `ockl/src/hostcall_impl.cl`; the
//! host's side is `devhostcall.cpp` of ROCclr).

mod arena;
mod format;

use std::collections::HashMap;
use std::io::Write as _;
use std::sync::{Mutex, PoisonError};

use gcn_sim::Memory;

use gcn_isa::target::WAVE_SIZE;

use arena::Arena;

use crate::heap::{Heap, Kind};
use crate::host::{self, Ptr};

/// Packets; waves that find none wait until there is one.
const PACKETS: usize = 512;
/// The bits of a packet pointer that are its number; those above count how often it was used.
const NUMBER_BITS: u32 = 10;
const NUMBER_MASK: u64 = (1 << NUMBER_BITS) - 1;
/// Bytes of a packet's header: the next packet, the mask of lanes, the service, the control word.
const HEADER: usize = 24;
/// Bytes of a packet's payload: eight numbers for each of 64 lanes.
const PAYLOAD: usize = 64 * SLOT;
const SLOT: usize = 64;
/// Fields of the buffer: headers, payloads, doorbell, stacks, mask.
const FREE_STACK: usize = 24;
const READY_STACK: usize = 32;
const BUFFER: usize = 64;
/// A signal that kernels increment; the host polls instead of waiting for it.
const SIGNAL: usize = 64;

/// `SERVICE_PRINTF`: parts of a message.
const PRINTF: u32 = 2;
/// `SERVICE_DEVMEM`: memory for `malloc`.
const MEMORY: u32 = 3;
/// Bits of a message's descriptor: it begins, it ends; the number of values; its id.
const BEGIN: u64 = 1;
const END: u64 = 2;
const LENGTH_SHIFT: u32 = 5;
const ID_SHIFT: u32 = 8;

/// The buffer, and the messages that are being put together.
pub(crate) struct Hostcall {
    buffer: Ptr,
    headers: Ptr,
    payloads: Ptr,
    messages: Mutex<Messages>,
    /// Once a kernel has asked for a heap.
    arena: Option<Mutex<Arena>>,
}

#[derive(Default)]
struct Messages {
    next: u64,
    open: HashMap<u64, Vec<u64>>,
}

impl Hostcall {
    /// Creates a buffer; `None` if there is not enough space.
    pub(crate) fn new(heap: &mut Heap, device: usize) -> Option<Hostcall> {
        let bytes = BUFFER + SIGNAL + PACKETS * (HEADER + PAYLOAD);
        let buffer = heap.alloc(Kind::Pinned, device, bytes, 0).ok()?;
        let signal = buffer.plus(BUFFER);
        let payloads = signal.plus(SIGNAL);
        let headers = payloads.plus(PACKETS * PAYLOAD);
        // The pointer 0 ends a stack, so that packet 0 begins with a use of 1.
        let mut next = 0u64;
        for number in 0..PACKETS as u64 {
            host::put(headers.plus(number as usize * HEADER), &next.to_le_bytes());
            next = if number == 0 { 1 << NUMBER_BITS } else { number };
        }
        let fields = [headers.address(), payloads.address(), signal.address(), next, 0, NUMBER_MASK];
        for (at, field) in fields.into_iter().enumerate() {
            host::put(buffer.plus(8 * at), &field.to_le_bytes());
        }
        debug_assert_eq!(FREE_STACK, 3 * 8);
        Some(Hostcall { buffer, headers, payloads, messages: Mutex::default(), arena: None })
    }

    pub(crate) fn address(&self) -> u64 {
        self.buffer.address()
    }

    /// The state of the heap for `malloc` in kernels, of at most so many bytes; 0 if there is no room for it.
    pub(crate) fn heap(&mut self, heap: &mut Heap, device: usize, most: usize) -> u64 {
        if self.arena.is_none() {
            self.arena = Arena::new(heap, device, most).map(Mutex::new);
        }
        let state = |arena: &mut Mutex<Arena>| arena.get_mut().map_or(0, |arena| arena.state());
        self.arena.as_mut().map_or(0, state)
    }

    /// Writes the printed text out.
    pub(crate) fn flush(&self) {
        host::flush_stdout();
    }

    /// Serves the packets that are ready.
    pub(crate) fn serve(&self, memory: &Memory) {
        let ready = self.buffer.plus(READY_STACK);
        if host::word(ready) == 0 {
            return;
        }
        let mut messages = self.messages.lock().unwrap_or_else(PoisonError::into_inner);
        // The buffer is allocated.
        let Ok(mut packet) = memory.swap(ready.address(), 0) else { return };
        while packet != 0 {
            let number = (packet & NUMBER_MASK) as usize;
            // A kernel that writes over the buffer harms itself only.
            if number >= PACKETS {
                return;
            }
            let header = self.headers.plus(number * HEADER);
            packet = host::word(header);
            let (lanes, service) = (host::word(header.plus(8)), host::word(header.plus(16)) as u32);
            for lane in (0..WAVE_SIZE as usize).filter(|lane| lanes >> lane & 1 == 1) {
                let slot = self.payloads.plus(number * PAYLOAD + lane * SLOT);
                match service {
                    PRINTF => message(&mut messages, slot),
                    MEMORY => {
                        let piece = self.request(host::word(slot), host::word(slot.plus(8)));
                        host::put(slot, &piece.to_le_bytes());
                    }
                    service => {
                        eprintln!(
                            "gcn-hip: kernels ask for service {service} of the host, which is not supported"
                        );
                        host::put(slot, &[0; 16]);
                    }
                }
            }
            host::put_word(header.plus(20), 0);
        }
    }

    /// Memory that a kernel wants or gives back.
    fn request(&self, at: u64, bytes: u64) -> u64 {
        let arena = self.arena.as_ref().map(|arena| arena.lock().unwrap_or_else(PoisonError::into_inner));
        arena.map_or(0, |mut arena| arena.request(at, bytes))
    }
}

/// A part of a message: its descriptor comes back with an id, that of the last part is replaced by the
/// result.
fn message(messages: &mut Messages, slot: Ptr) {
    let mut descriptor = host::word(slot);
    if descriptor & BEGIN != 0 {
        messages.next += 1;
        descriptor = (descriptor & !BEGIN & ((1 << ID_SHIFT) - 1)) | messages.next << ID_SHIFT;
    }
    let length = (descriptor >> LENGTH_SHIFT & 7) as usize;
    let id = descriptor >> ID_SHIFT;
    let message = messages.open.entry(id).or_default();
    message.extend((1..=length).map(|at| host::word(slot.plus(8 * at))));
    if descriptor & END == 0 {
        host::put(slot, &descriptor.to_le_bytes());
        return;
    }
    let values = messages.open.remove(&id).unwrap_or_default();
    let result = print(&values);
    host::put(slot, &result.to_le_bytes());
}

/// Prints a message: where to, then format and arguments; the number of characters.
fn print(values: &[u64]) -> u64 {
    let Some((control, values)) = values.split_first() else { return u64::MAX };
    let text = format::message(values);
    if control & 1 == 1 {
        // As with the C library's `stderr`, errors are ignored.
        let _ = std::io::stderr().write_all(&text);
    } else {
        host::print(&text);
    }
    text.len() as u64
}
