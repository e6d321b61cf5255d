// SPDX-License-Identifier: Apache-2.0
// Package driver is what the Go drivers share: the commands of bench/README.md, for whatever can take and release a
// lock.
package driver

import (
	"context"
	"time"
)

// Library is one contestant.
type Library struct {
	Connect  func(url string, lease time.Duration) (Client, error)
	Watchdog bool // renews what is held
}

// Client is what one process would have of the library.
type Client interface {
	Lock(key string) Lock
}

// Lock is one caller's way to one lock.
type Lock interface {
	// Try is false if the lock is taken now.
	Try() (bool, error)
	// Take waits; it is false if ctx ended first. What it has taken outlives ctx.
	Take(ctx context.Context) (bool, error)
	Release() error
}
