// SPDX-License-Identifier: Apache-2.0
package driver

import (
	"sync/atomic"
	"time"
)

// settling is how long the last waiters have to reach the wait.
const settling = time.Second

// crowd is what waits between crowd and crowd_go.
type crowd struct {
	locks   []Lock
	waiters int
	through chan error // when all have been through
}

func (d *driver) gather(c command) (answer, error) {
	waiters, count, keys := c.number("waiters"), c.number("locks"), c.text("keys")
	made := &crowd{waiters: waiters, through: make(chan error, 1)}
	for i := range count {
		lock := d.lock(0, numbered(keys, i))
		if err := enter(lock); err != nil {
			return nil, err
		}
		made.locks = append(made.locks, lock)
	}
	result := answer{"waiting": waiters, "rss_before_bytes": rssBytes()}
	start := time.Now()
	var begun atomic.Int64
	go func() {
		made.through <- callers(waiters, func(waiter int) error {
			lock := d.lock(waiter, numbered(keys, waiter%count))
			begun.Add(1)
			return pass(lock)
		})
	}()
	for begun.Load() < int64(waiters) {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(settling)
	result["seconds"] = time.Since(start).Seconds()
	result["rss_after_bytes"] = rssBytes()
	d.crowd = made
	return result, nil
}

func (d *driver) release(waiting *crowd) (answer, error) {
	d.crowd = nil
	measured := startMeter(time.Now())
	for _, lock := range waiting.locks {
		if err := lock.Release(); err != nil {
			return nil, err
		}
	}
	err := <-waiting.through
	result := answer{"grants": waiting.waiters}
	measured.stop(result)
	return result, err
}
