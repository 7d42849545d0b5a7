//! The buffer through which kernels request services from the host.
//!
//! A wave takes a packet from a stack of free packets, fills it, pushes it onto a stack of ready packets, and waits until the host has
//! cleared a flag in it (ROCm device libraries, `ockl/src/hostcall_impl.cl`; the host's side is `devhostcall.cpp` in ROCclr).

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

/// The number of packets. A wave that finds no free packet waits for one.
const PACKETS: usize = 512;
/// The bits of a packet pointer that contain the packet's number. The bits above count how often the packet has been used, which avoids the
/// ABA problem.
const NUMBER_BITS: u32 = 10;
const NUMBER_MASK: u64 = (1 << NUMBER_BITS) - 1;
/// The size of a packet's header in bytes: the next packet, the lane mask, the service, the control word.
const HEADER: usize = 24;
/// The size of a packet's payload in bytes: eight numbers for each of 64 lanes.
const PAYLOAD: usize = 64 * SLOT;
const SLOT: usize = 64;
/// The layout of the buffer: headers, payloads, doorbell, stacks, mask.
const FREE_STACK: usize = 24;
const READY_STACK: usize = 32;
const BUFFER: usize = 64;
/// The signal that kernels increment to notify the host. The host ignores the signal and polls the buffer.
const SIGNAL: usize = 64;

/// `SERVICE_PRINTF`, which transfers parts of a message.
const PRINTF: u32 = 2;
/// `SERVICE_DEVMEM`, which provides memory for `malloc`.
const MEMORY: u32 = 3;
/// The fields of a message's descriptor: start and end flags, the number of values, and the message ID.
const BEGIN: u64 = 1;
const END: u64 = 2;
const LENGTH_SHIFT: u32 = 5;
const ID_SHIFT: u32 = 8;

/// The buffer, and the messages of which not all parts have arrived.
pub(crate) struct Hostcall {
    buffer: Ptr,
    headers: Ptr,
    payloads: Ptr,
    messages: Mutex<Messages>,
    /// The memory for `malloc` in kernels; `None` until a kernel needs it.
    arena: Option<Mutex<Arena>>,
}

#[derive(Default)]
struct Messages {
    next: u64,
    open: HashMap<u64, Vec<u64>>,
}

impl Hostcall {
    /// Creates a buffer; `None` if there is not enough device memory.
    pub(crate) fn new(heap: &mut Heap, device: usize) -> Option<Hostcall> {
        let bytes = BUFFER + SIGNAL + PACKETS * (HEADER + PAYLOAD);
        let buffer = heap.alloc(Kind::Pinned, device, bytes, 0).ok()?;
        let signal = buffer.plus(BUFFER);
        let payloads = signal.plus(SIGNAL);
        let headers = payloads.plus(PACKETS * PAYLOAD);
        // Pointer 0 marks the end of a stack, so the use count of packet 0 starts at 1.
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

    /// The address of the state of the heap for `malloc` in kernels. The heap grows to at most `most` bytes. Returns 0 if there is not
    /// enough space.
    pub(crate) fn heap(&mut self, heap: &mut Heap, device: usize, most: usize) -> u64 {
        if self.arena.is_none() {
            self.arena = Arena::new(heap, device, most).map(Mutex::new);
        }
        let state = |arena: &mut Mutex<Arena>| arena.get_mut().map_or(0, |arena| arena.state());
        self.arena.as_mut().map_or(0, state)
    }

    /// Flushes the printed text.
    pub(crate) fn flush(&self) {
        host::flush_stdout();
    }

    /// Serves all ready packets.
    pub(crate) fn serve(&self, memory: &Memory) {
        let ready = self.buffer.plus(READY_STACK);
        if host::word(ready) == 0 {
            return;
        }
        let mut messages = self.messages.lock().unwrap_or_else(PoisonError::into_inner);
        // Cannot fail, because the buffer is allocated.
        let Ok(mut packet) = memory.swap(ready.address(), 0) else { return };
        while packet != 0 {
            let number = (packet & NUMBER_MASK) as usize;
            // A kernel that overwrites the buffer only harms itself.
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

    /// Handles a kernel's request to allocate or free memory.
    fn request(&self, at: u64, bytes: u64) -> u64 {
        let arena = self.arena.as_ref().map(|arena| arena.lock().unwrap_or_else(PoisonError::into_inner));
        arena.map_or(0, |mut arena| arena.request(at, bytes))
    }
}

/// Handles one part of a message. Stores the descriptor with a message ID as the reply or, for the last part, the result of printing.
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

/// Prints a message, given the destination, the format and the arguments; returns the number of characters.
fn print(values: &[u64]) -> u64 {
    let Some((control, values)) = values.split_first() else { return u64::MAX };
    let text = format::message(values);
    if control & 1 == 1 {
        // Errors are ignored, because the C library's `stderr` is not checked either.
        let _ = std::io::stderr().write_all(&text);
    } else {
        host::print(&text);
    }
    text.len() as u64
}
