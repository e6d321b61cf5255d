// SPDX-License-Identifier: Apache-2.0
package main

import (
	"context"
	"errors"
	"math/rand"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/go-redsync/redsync/v4"
	redsyncredis "github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"
)

const retry = 20 * time.Millisecond

// session is what one connect has made: a client per server.
type session struct {
	clients []*redis.Client
	redsync *redsync.Redsync
	lease   time.Duration
}

type hold struct{ mutex *redsync.Mutex }

// worker is one thread of the taker, with the locks that it holds.
type worker struct{ held map[string]*hold }

func connect(args []string) (*session, error) {
	made := &session{lease: 30 * time.Second}
	var pools []redsyncredis.Pool
	for _, url := range strings.Split(args[0], ",") {
		options, err := redis.ParseURL(url)
		if err != nil {
			return nil, failure{"usage", err.Error()}
		}
		// A server that is down or frozen is a vote less, soon.
		options.MaxRetries = -1
		options.DialTimeout, options.ReadTimeout = 500*time.Millisecond, 500*time.Millisecond
		client := redis.NewClient(options)
		made.clients = append(made.clients, client)
		pools = append(pools, goredis.NewPool(client))
	}
	for _, setting := range args[1:] {
		if value, found := strings.CutPrefix(setting, "lease_ms="); found {
			made.lease = milliseconds(value)
		}
	}
	made.redsync = redsync.New(pools...)
	return made, nil
}

func milliseconds(text string) time.Duration {
	number, _ := strconv.Atoi(text)
	return time.Duration(number) * time.Millisecond
}

// take waits for the lock: without limit if the limit is negative.
func (w *worker) take(ctx context.Context, s *session, name string, lease []string, limit time.Duration) (bool, error) {
	duration := s.lease
	if len(lease) > 0 && lease[0] != "0" {
		duration = milliseconds(lease[0])
	}
	mutex := s.redsync.NewMutex(name, redsync.WithExpiry(duration), redsync.WithTries(1))
	end := time.Now().Add(limit)
	for {
		err := mutex.LockContext(ctx)
		if err == nil {
			w.held[name] = &hold{mutex}
			return true, nil
		}
		var taken *redsync.ErrTaken
		if !errors.As(err, &taken) && !errors.Is(err, redsync.ErrFailed) {
			return false, err
		}
		if limit >= 0 && !time.Now().Before(end) {
			return false, nil
		}
		time.Sleep(retry/2 + time.Duration(rand.Int63n(int64(retry/2))))
	}
}

func (w *worker) giveBack(ctx context.Context, name string) (string, error) {
	held, there := w.held[name]
	if !there {
		return "", failure{"not_owner", "this thread does not hold it"}
	}
	delete(w.held, name)
	if ok, err := held.mutex.UnlockContext(ctx); !ok {
		return "", failure{"not_owner", words(err)}
	}
	return "released", nil
}

func words(err error) string {
	if err == nil {
		return "not enough servers had it"
	}
	return err.Error()
}

func (w *worker) extend(ctx context.Context, name string, lease time.Duration) (string, error) {
	held, there := w.held[name]
	if !there {
		return "", failure{"not_owner", "this thread does not hold it"}
	}
	redsync.WithExpiry(lease).Apply(held.mutex)
	if ok, err := held.mutex.ExtendContext(ctx); !ok {
		return "", failure{"not_owner", words(err)}
	}
	return "yes", nil
}

// increment reads a number, waits a little and writes it back plus one, for as long as it is to go on.
func (w *worker) increment(ctx context.Context, s *session, args []string, goesOn func(int) bool) (string, error) {
	done := 0
	for ; goesOn(done); done++ {
		if _, err := w.take(ctx, s, args[1], nil, -1); err != nil {
			return "", err
		}
		text, err := os.ReadFile(args[2])
		if err != nil && !os.IsNotExist(err) { // nobody has counted yet
			return "", err
		}
		value, _ := strconv.Atoi(strings.TrimSpace(string(text)))
		if len(args) > 4 {
			time.Sleep(milliseconds(args[4]))
		}
		if err := os.WriteFile(args[2], []byte(strconv.Itoa(value+1)), 0o644); err != nil {
			return "", err
		}
		if _, err := w.giveBack(ctx, args[1]); err != nil {
			return "", err
		}
	}
	return strconv.Itoa(done), nil
}

func yesOrNo(value bool) string {
	if value {
		return "yes"
	}
	return "no"
}

func (w *worker) dispatch(ctx context.Context, s *session, command string, args []string) (string, error) {
	needed := map[string]int{"lock": 2, "try": 3, "unlock": 2, "extend": 3, "token": 2, "mine": 2, "count": 2,
		"increment": 4, "increment_for": 4, "force": 1, "locked": 1, "ttl": 1}
	if len(args) < needed[command] {
		return "", failure{"usage", command + ": an argument is missing"}
	}
	switch command {
	case "lock":
		_, err := w.take(ctx, s, args[1], args[2:], -1)
		return "", err
	case "try":
		taken, err := w.take(ctx, s, args[1], args[3:], milliseconds(args[2]))
		return yesOrNo(taken), err
	case "unlock":
		return w.giveBack(ctx, args[1])
	case "extend":
		return w.extend(ctx, args[1], milliseconds(args[2]))
	case "increment":
		n, _ := strconv.Atoi(args[3])
		return w.increment(ctx, s, args, func(done int) bool { return done < n })
	case "increment_for":
		end := time.Now().Add(milliseconds(args[3]))
		return w.increment(ctx, s, args, func(int) bool { return time.Now().Before(end) })
	case "token", "mine", "count":
		return w.query(ctx, s, command, args[1])
	case "force":
		deleted, err := s.clients[0].Del(ctx, args[0]).Result()
		return yesOrNo(deleted > 0), err
	case "locked":
		there, err := s.clients[0].Exists(ctx, args[0]).Result()
		return yesOrNo(there > 0), err
	case "ttl":
		left, err := s.clients[0].PTTL(ctx, args[0]).Result()
		if left < 0 {
			return "none", err
		}
		return strconv.FormatInt(left.Milliseconds(), 10), err
	case "close":
		for _, client := range s.clients {
			_ = client.Close()
		}
		return "", nil
	}
	return "", failure{"usage", "no such command: " + command}
}

func (w *worker) query(ctx context.Context, s *session, command, name string) (string, error) {
	held, there := w.held[name]
	switch command {
	case "count":
		if there {
			return "1", nil
		}
		return "0", nil
	case "token":
		if there {
			return held.mutex.Value(), nil
		}
		return "", nil
	}
	if !there {
		return "no", nil
	}
	stored, err := s.clients[0].Get(ctx, name).Result()
	if errors.Is(err, redis.Nil) {
		return "no", nil
	}
	return yesOrNo(stored == held.mutex.Value()), err
}
