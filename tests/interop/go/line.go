// SPDX-License-Identifier: Apache-2.0
package main

import (
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// micros is the machine's monotonic clock, which other processes read as well.
func micros() int64 {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		panic(err)
	}
	return now.Nano() / 1000
}

func decode(field string) string {
	var text strings.Builder
	for i := 0; i < len(field); i++ {
		if field[i] == '%' && i+2 < len(field) {
			if b, err := strconv.ParseUint(field[i+1:i+3], 16, 8); err == nil {
				text.WriteByte(byte(b))
				i += 2
				continue
			}
		}
		text.WriteByte(field[i])
	}
	return text.String()
}

func encode(field string) string {
	var line strings.Builder
	for _, b := range []byte(field) {
		if b > ' ' && b < 0x7f && b != '%' {
			line.WriteByte(b)
		} else {
			fmt.Fprintf(&line, "%%%02X", b)
		}
	}
	return line.String()
}
