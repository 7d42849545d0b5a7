//! The functions that JavaScript calls. Requests and answers are passed as bytes in this module's memory.
//!
//! The page allocates memory for a request with `gcn_allocate`, writes the request there, and passes it to `gcn_answer`, which frees it.
//! The answer is a length of four bytes, followed by the text; the page frees it with `gcn_release`.

#![expect(unsafe_code, reason = "the boundary to JavaScript, which knows addresses and lengths only")]

/// Allocates memory for a request of `length` bytes.
#[unsafe(no_mangle)]
pub extern "C" fn gcn_allocate(length: usize) -> *mut u8 {
    Box::into_raw(vec![0u8; length].into_boxed_slice()).cast()
}

/// Answers a request; returns the address of the answer's length, which its text follows.
///
/// # Safety
/// `request` must come from [`gcn_allocate`] with this `length`, and must not be used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gcn_answer(request: *mut u8, length: usize) -> *mut u8 {
    // SAFETY: the caller promises that this is such a box, and gives it up.
    let request = unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(request, length)) };
    let answer = crate::answer(&String::from_utf8_lossy(&request));
    let mut bytes = u32::try_from(answer.len()).unwrap_or(u32::MAX).to_le_bytes().to_vec();
    bytes.extend_from_slice(answer.as_bytes());
    Box::into_raw(bytes.into_boxed_slice()).cast()
}

/// Frees an answer.
///
/// # Safety
/// `answer` must come from [`gcn_answer`], its text must have `length` bytes, and it must not be used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gcn_release(answer: *mut u8, length: usize) {
    // SAFETY: the caller promises that this is such a box, and gives it up.
    drop(unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(answer, length + 4)) });
}
