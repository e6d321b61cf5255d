// SPDX-License-Identifier: Apache-2.0
// The driver of rueidislock. Not its defaults: a lease (KeyValidity) of 30 s (its own: 5 s), renewed at half of it, as
// by default; and, as its documentation has it for one server of Redis 7.0.5 or later, KeyMajority 1 (its own: 2 of 3
// keys) and NoLoopTracking. Without the latter each renewal is announced to the client that made it, which renews at
// once again, and so on. With it a take whose answer comes later than TryNextAfter (its own: 20 ms) waits for ever: it is
// undone, and its own client is not told. So that is 10 s.
package main

import (
	"context"
	"errors"
	"time"

	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"

	"holdfast/bench/driver"
)

type client struct{ locker rueidislock.Locker }

func connect(url string, lease time.Duration) (driver.Client, error) {
	options, err := rueidis.ParseURL(url)
	if err != nil {
		return nil, err
	}
	locker, err := rueidislock.NewLocker(rueidislock.LockerOption{
		ClientOption:   options,
		KeyValidity:    lease,
		KeyMajority:    1,
		NoLoopTracking: true,
		TryNextAfter:   10 * time.Second,
	})
	return &client{locker}, err
}

func (c *client) Lock(key string) driver.Lock { return &lock{locker: c.locker, key: key} }

type lock struct {
	locker  rueidislock.Locker
	key     string
	release context.CancelFunc
}

func (l *lock) Try() (bool, error) {
	_, release, err := l.locker.TryWithContext(context.Background(), l.key)
	if errors.Is(err, rueidislock.ErrNotLocked) {
		return false, nil
	}
	l.release = release
	return err == nil, err
}

// Take gives WithContext a context of its own, since that one ends the lock as well as the wait.
func (l *lock) Take(ctx context.Context) (bool, error) {
	held := context.Background()
	waits := func() bool { return true }
	if ctx.Done() != nil {
		var cancel context.CancelFunc
		held, cancel = context.WithCancel(held)
		waits = context.AfterFunc(ctx, cancel)
	}
	_, release, err := l.locker.WithContext(held, l.key)
	inTime := waits()
	if err == nil && !inTime {
		release()
	}
	if !inTime {
		return false, nil
	}
	l.release = release
	return err == nil, err
}

func (l *lock) Release() error {
	l.release()
	return nil
}

func main() { driver.Run(driver.Library{Connect: connect, Watchdog: true}) }
