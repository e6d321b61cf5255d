// SPDX-License-Identifier: Apache-2.0
// The driver of go-redsync over go-redis. Not its defaults: a lease of 30 s (its own: 8 s), and no limit to the number
// of tries (its own: 32). The delay between two is its own, 50 to 250 ms.
package main

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"

	"holdfast/bench/driver"
	"holdfast/bench/server"
)

type client struct {
	redsync *redsync.Redsync
	lease   time.Duration
}

func connect(url string, lease time.Duration) (driver.Client, error) {
	connection, err := server.Connect(url)
	if err != nil {
		return nil, err
	}
	return &client{redsync.New(goredis.NewPool(connection)), lease}, nil
}

func (c *client) Lock(key string) driver.Lock {
	return &lock{c.redsync.NewMutex(key, redsync.WithExpiry(c.lease), redsync.WithTries(math.MaxInt))}
}

type lock struct{ mutex *redsync.Mutex }

func (l *lock) Try() (bool, error) {
	err := l.mutex.TryLock()
	var taken *redsync.ErrTaken
	if errors.As(err, &taken) {
		return false, nil
	}
	return err == nil, err
}

func (l *lock) Take(ctx context.Context) (bool, error) {
	err := l.mutex.LockContext(ctx)
	if err != nil && ctx.Err() != nil {
		return false, nil
	}
	return err == nil, err
}

func (l *lock) Release() error {
	released, err := l.mutex.Unlock()
	if !released && err == nil {
		err = errors.New("it was not held")
	}
	return err
}

func main() { driver.Run(driver.Library{Connect: connect}) }
