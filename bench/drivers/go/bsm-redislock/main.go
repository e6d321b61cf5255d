// SPDX-License-Identifier: Apache-2.0
// The driver of bsm/redislock over go-redis. Not its defaults: a lease of 30 s (it has none); a try every 100 ms, as in
// its documentation's example (its own: it does not wait at all); and a deadline far off where a wait has no limit (its
// own: it gives up after a lease).
package main

import (
	"context"
	"errors"
	"time"

	"github.com/bsm/redislock"

	"holdfast/bench/driver"
	"holdfast/bench/server"
)

const unlimited = 24 * time.Hour

var waiting = &redislock.Options{RetryStrategy: redislock.LinearBackoff(100 * time.Millisecond)}

type client struct {
	locks *redislock.Client
	lease time.Duration
}

func connect(url string, lease time.Duration) (driver.Client, error) {
	connection, err := server.Connect(url)
	if err != nil {
		return nil, err
	}
	return &client{redislock.New(connection), lease}, nil
}

func (c *client) Lock(key string) driver.Lock { return &lock{client: c, key: key} }

type lock struct {
	client *client
	key    string
	held   *redislock.Lock
}

func (l *lock) Try() (bool, error) {
	taken, err := l.obtain(context.Background(), nil)
	if errors.Is(err, redislock.ErrNotObtained) {
		return false, nil
	}
	return taken, err
}

func (l *lock) Take(ctx context.Context) (bool, error) {
	if _, limited := ctx.Deadline(); !limited {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, unlimited)
		defer cancel()
	}
	taken, err := l.obtain(ctx, waiting)
	if err != nil && ctx.Err() != nil {
		return false, nil
	}
	return taken, err
}

func (l *lock) obtain(ctx context.Context, options *redislock.Options) (bool, error) {
	held, err := l.client.locks.Obtain(ctx, l.key, l.client.lease, options)
	l.held = held
	return err == nil, err
}

func (l *lock) Release() error { return l.held.Release(context.Background()) }

func main() { driver.Run(driver.Library{Connect: connect}) }
