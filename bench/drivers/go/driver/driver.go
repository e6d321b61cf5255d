// SPDX-License-Identifier: Apache-2.0
package driver

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"
)

type answer = map[string]any

type driver struct {
	contestant Library
	clients    []Client
	taken      map[string]Lock // by take, of the first caller
	held       []Lock          // by hold
	crowd      *crowd
}

// Run is a driver's main.
func Run(contestant Library) {
	d := &driver{contestant: contestant, taken: map[string]Lock{}}
	if err := d.connect(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("ready")
	output := json.NewEncoder(os.Stdout)
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		result, err := d.carryOut(lines.Text())
		if err != nil {
			result = answer{"error": err.Error()}
		}
		if err := output.Encode(result); err != nil {
			os.Exit(1)
		}
	}
}

func (d *driver) connect(args []string) (err error) {
	defer caught(&err)
	if len(args) == 0 {
		return mistake("usage: run URL [lease_ms=30000] [clients=1]")
	}
	given := command{"run", settings(args[1:])}
	lease := time.Duration(given.numberOr("lease_ms", 30000)) * time.Millisecond
	for range given.numberOr("clients", 1) {
		client, err := d.contestant.Connect(args[0], lease)
		if err != nil {
			return err
		}
		d.clients = append(d.clients, client)
	}
	return nil
}

// caught makes an error of a mistake.
func caught(err *error) {
	if thrown := recover(); thrown != nil {
		known, is := thrown.(mistake)
		if !is {
			panic(thrown)
		}
		*err = known
	}
}

func (d *driver) lock(caller int, key string) Lock { return d.clients[caller%len(d.clients)].Lock(key) }

func numbered(keys string, i int) string { return keys + ":" + strconv.Itoa(i) }

func seconds(number float64) time.Duration { return time.Duration(number * float64(time.Second)) }

func (d *driver) carryOut(line string) (result answer, err error) {
	defer caught(&err)
	c := parse(line)
	switch c.verb {
	case "pairs":
		return d.pairs(c)
	case "hot":
		return d.hot(c)
	case "take":
		return d.take(c.text("key"), seconds(c.real("wait_s")))
	case "release":
		return d.giveBack(c.text("key"))
	case "hold":
		if !d.contestant.Watchdog {
			return answer{"unsupported": "no watchdog"}, nil
		}
		return d.hold(c)
	case "crowd":
		return d.gather(c)
	case "crowd_go":
		if d.crowd == nil {
			return nil, mistake("no crowd waits")
		}
		return d.release(d.crowd)
	case "usage":
		return answer{"cpu_us": cpuUs(), "rss_bytes": rssBytes()}, nil
	}
	return answer{"unsupported": "no such command"}, nil
}

func (d *driver) take(key string, limit time.Duration) (answer, error) {
	lock := d.lock(0, key)
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	var taken bool
	var err error
	if limit > 0 {
		taken, err = lock.Take(ctx)
	} else {
		taken, err = lock.Try()
	}
	at := monotonicNs()
	if taken {
		d.taken[key] = lock
	}
	return answer{"taken": taken, "at_ns": at}, err
}

func (d *driver) giveBack(key string) (answer, error) {
	lock, there := d.taken[key]
	if !there {
		return nil, errors.New("not taken: " + key)
	}
	delete(d.taken, key)
	before := monotonicNs()
	err := lock.Release()
	return answer{"before_ns": before, "after_ns": monotonicNs()}, err
}
