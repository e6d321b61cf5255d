// SPDX-License-Identifier: Apache-2.0
//! A line of the takers' protocol, which tests/README.md describes.

/// Microseconds of the machine's monotonic clock, which other processes read as well.
pub fn micros() -> i64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: it writes to `now` alone.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut now) };
    now.tv_sec as i64 * 1_000_000 + now.tv_nsec as i64 / 1000
}

pub fn decode(field: &str) -> String {
    let bytes = field.as_bytes();
    let mut text = Vec::new();
    let mut i = 0;
    while i < bytes.len() {
        let byte = field.get(i + 1..i + 3).and_then(|hex| u8::from_str_radix(hex, 16).ok());
        match byte {
            Some(byte) if bytes[i] == b'%' => {
                text.push(byte);
                i += 3;
            }
            _ => {
                text.push(bytes[i]);
                i += 1;
            }
        }
    }
    String::from_utf8_lossy(&text).into_owned()
}

pub fn encode(field: &str) -> String {
    let mut line = String::new();
    for byte in field.bytes() {
        if byte > b' ' && byte < 0x7f && byte != b'%' {
            line.push(byte as char);
        } else {
            line.push_str(&format!("%{byte:02X}"));
        }
    }
    line
}
