//! The functions that JavaScript calls. A request and its answer are bytes in this module's memory.
//!
//! The page gets room with `gcn_allocate`, writes a request there, and gives it to `gcn_answer`, which takes the room back. The answer
//! is its length in four bytes and the text; the page gives it back with `gcn_release`.

#![expect(unsafe_code, reason = "the boundary to JavaScript, which knows addresses and lengths only")]

/// Room for a request of `length` bytes.
#[unsafe(no_mangle)]
pub extern "C" fn gcn_allocate(length: usize) -> *mut u8 {
    Box::into_raw(vec![0u8; length].into_boxed_slice()).cast()
}

/// The answer to a request, as the address of its length and its text.
///
/// # Safety
/// `request` is from [`gcn_allocate`] with this `length`, and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gcn_answer(request: *mut u8, length: usize) -> *mut u8 {
    // SAFETY: the caller promises that this is such a box, and gives it up.
    let request = unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(request, length)) };
    let answer = crate::answer(&String::from_utf8_lossy(&request));
    let mut bytes = u32::try_from(answer.len()).unwrap_or(u32::MAX).to_le_bytes().to_vec();
    bytes.extend_from_slice(answer.as_bytes());
    Box::into_raw(bytes.into_boxed_slice()).cast()
}

/// Takes an answer back.
///
/// # Safety
/// `answer` is from [`gcn_answer`], its text has `length` bytes, and it is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gcn_release(answer: *mut u8, length: usize) {
    // SAFETY: the caller promises that this is such a box, and gives it up.
    drop(unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(answer, length + 4)) });
}
