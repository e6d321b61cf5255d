// SPDX-License-Identifier: Apache-2.0
package driver

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// callers runs body for each of count callers, all at once, and returns the first error.
func callers(count int, body func(caller int) error) error {
	var all sync.WaitGroup
	var first error
	var failed sync.Once
	for caller := range count {
		all.Go(func() {
			if err := body(caller); err != nil {
				failed.Do(func() { first = err })
			}
		})
	}
	all.Wait()
	return first
}

// enter takes a lock, however long it takes.
func enter(lock Lock) error {
	_, err := lock.Take(context.Background())
	return err
}

func pass(lock Lock) error {
	if err := enter(lock); err != nil {
		return err
	}
	return lock.Release()
}

func (d *driver) pairs(c command) (answer, error) {
	threads := c.number("threads")
	samples := make([]histogram, threads)
	locks := make([]Lock, threads)
	for caller := range locks {
		locks[caller] = d.lock(caller, numbered(c.text("keys"), caller))
	}
	length := seconds(c.real("seconds"))
	measured := startMeter(time.Now())
	end := measured.start.Add(length)
	err := callers(threads, func(caller int) error {
		for begun := time.Now(); begun.Before(end); {
			if err := pass(locks[caller]); err != nil {
				return err
			}
			done := time.Now()
			samples[caller].add(done.Sub(begun))
			begun = done
		}
		return nil
	})
	result := answer{}
	measured.stop(result)
	all := merged(samples)
	result["pairs"] = all.total
	all.summary(result, "")
	return result, err
}

func (d *driver) hot(c command) (answer, error) {
	threads := c.number("threads")
	inside := time.Duration(c.numberOr("inside_us", 0)) * time.Microsecond
	waits := make([]histogram, threads)
	served := make([]int64, threads)
	locks := make([]Lock, threads)
	for caller := range locks {
		locks[caller] = d.lock(caller, c.text("key"))
	}
	start := time.Now()
	if at := int64(c.numberOr("start_ns", 0)); at > 0 {
		start = start.Add(time.Duration(at - monotonicNs()))
	}
	end := start.Add(seconds(c.real("seconds")))
	measured := startMeter(start)
	err := callers(threads, func(caller int) error {
		ctx, cancel := context.WithDeadline(context.Background(), end)
		defer cancel()
		time.Sleep(time.Until(start))
		for begun := time.Now(); begun.Before(end); begun = time.Now() {
			taken, err := locks[caller].Take(ctx)
			waits[caller].add(time.Since(begun))
			if err != nil || !taken {
				return err
			}
			served[caller]++
			spin(inside)
			if err := locks[caller].Release(); err != nil {
				return err
			}
		}
		return nil
	})
	result := answer{}
	measured.stop(result)
	all := merged(waits)
	var sections int64
	for _, each := range served {
		sections += each
	}
	result["sections"], result["served"] = sections, served
	all.summary(result, "wait_")
	return result, err
}

// holders is from how many callers hold takes its locks.
const holders = 64

func (d *driver) hold(c command) (answer, error) {
	count, keys := c.number("count"), c.text("keys")
	held := make([]Lock, count)
	result := answer{"held": count, "rss_before_bytes": rssBytes()}
	var next atomic.Int64
	measured := startMeter(time.Now())
	err := callers(min(holders, count), func(caller int) error {
		for i := int(next.Add(1)) - 1; i < count; i = int(next.Add(1)) - 1 {
			held[i] = d.lock(caller, numbered(keys, i))
			if err := enter(held[i]); err != nil {
				return err
			}
		}
		return nil
	})
	measured.stop(result)
	d.held = append(d.held, held...)
	result["rss_after_bytes"] = rssBytes()
	return result, err
}

func merged(parts []histogram) *histogram {
	all := &histogram{}
	for i := range parts {
		all.merge(&parts[i])
	}
	return all
}
