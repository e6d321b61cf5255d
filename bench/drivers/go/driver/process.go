// SPDX-License-Identifier: Apache-2.0
package driver

import (
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// monotonicNs is the machine's monotonic clock, which other processes read as well.
func monotonicNs() int64 {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		panic(err)
	}
	return now.Nano()
}

// cpuUs is what this process has used since it began.
func cpuUs() int64 {
	var usage unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return (usage.Utime.Nano() + usage.Stime.Nano()) / 1000
}

// rssBytes is what the process keeps, once the collector has given back what it can.
func rssBytes() int64 {
	debug.FreeOSMemory()
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		panic(err)
	}
	pages, err := strconv.ParseInt(strings.Fields(string(text))[1], 10, 64)
	if err != nil {
		panic(err)
	}
	return pages * int64(os.Getpagesize())
}

func spin(length time.Duration) {
	if length > 0 {
		for end := time.Now().Add(length); time.Now().Before(end); {
		}
	}
}

// meter measures one command: its seconds, and the processor time of the whole process.
type meter struct {
	start time.Time
	cpu   int64
}

func startMeter(start time.Time) meter { return meter{start, cpuUs()} }

func (m meter) stop(answer map[string]any) {
	answer["cpu_us"] = cpuUs() - m.cpu
	answer["seconds"] = time.Since(m.start).Seconds()
}
