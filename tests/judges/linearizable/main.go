// SPDX-License-Identifier: Apache-2.0
// Asks Porcupine whether pieces of the histories of locks are linearizable: whether each step can have happened at one
// moment between its call and its return, so that all of them together are what a lock does.
//
// Usage: run FILE [SECONDS]   FILE has lines, made by outcomes.cpp:
//
//	piece ID HOLDER               begins a piece, at the beginning of which this owner has the lock (0: nobody)
//	KIND OWNER CALLED ENDED TOKEN REF
//
// Output: `illegal ID REF`, where REF is of a step that has no place; `undecided ID` after so many seconds; in the end
// `checked PIECES STEPS`.
package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/anishathalye/porcupine"
)

type step struct {
	kind  string
	owner int64
	token int64
	ref   string
}

type lock struct {
	holder int64 // 0: nobody
	token  int64
}

// What a lock does. Outcomes that are unknown are steps (`end`) that may happen at any time after they could have.
func next(state lock, s step) (bool, lock) {
	free := lock{token: state.token}
	mine := state.holder == s.owner
	switch s.kind {
	case "granted":
		if s.token != 0 && s.token <= state.token {
			return false, state
		}
		token := max(state.token, s.token)
		return state.holder == 0, lock{s.owner, token}
	case "refused": // somebody has it
		return state.holder != 0 && !mine, state
	case "released":
		return mine, free
	case "was_lost":
		return !mine, state
	case "end": // of a lease, or by a release of which nobody knows
		if mine {
			return true, free
		}
		return true, state
	case "forced":
		return state.holder != 0, free
	case "found_free":
		return state.holder == 0, state
	case "perhaps_forced":
		return true, free
	case "tokens_lost": // they may begin anew
		return true, lock{holder: state.holder}
	}
	panic("no such step: " + s.kind)
}

func model(holder int64) porcupine.Model {
	return porcupine.Model{
		Init: func() interface{} {
			return lock{holder: holder}
		},
		Step: func(state, input, output interface{}) (bool, interface{}) {
			return next(state.(lock), input.(step))
		},
	}
}

type piece struct {
	id     string
	holder int64
	steps  []porcupine.Operation
}

// A step that is missing in the longest order that was found, the one that ended first.
func withoutPlace(p piece, info porcupine.LinearizationInfo) string {
	longest := []int{}
	for _, partition := range info.PartialLinearizations() {
		for _, order := range partition {
			if len(order) > len(longest) {
				longest = order
			}
		}
	}
	placed := make(map[int]bool)
	for _, i := range longest {
		placed[i] = true
	}
	found := -1
	for i, s := range p.steps {
		if !placed[i] && (found < 0 || s.Return < p.steps[found].Return) {
			found = i
		}
	}
	if found < 0 {
		return "?"
	}
	return p.steps[found].Input.(step).ref
}

func check(p piece, limit time.Duration) string {
	switch porcupine.CheckOperationsTimeout(model(p.holder), p.steps, limit) {
	case porcupine.Ok:
		return ""
	case porcupine.Unknown:
		return "undecided " + p.id
	}
	_, info := porcupine.CheckOperationsVerbose(model(p.holder), p.steps, limit)
	return "illegal " + p.id + " " + withoutPlace(p, info)
}

func number(text string) int64 {
	value, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		panic(err)
	}
	return value
}

// Sends all pieces of the file, and says how many steps they have.
func read(file *os.File, pieces chan<- piece) (int, int) {
	count, steps := 0, 0
	var current piece
	send := func() {
		if count > 0 {
			pieces <- current
		}
	}
	lines := bufio.NewScanner(file)
	lines.Buffer(make([]byte, 1<<16), 1<<20)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if fields[0] == "piece" {
			send()
			current = piece{id: fields[1], holder: number(fields[2])}
			count++
			continue
		}
		steps++
		current.steps = append(current.steps, porcupine.Operation{
			Input:  step{fields[0], number(fields[1]), number(fields[4]), fields[5]},
			Call:   number(fields[2]),
			Return: number(fields[3]),
		})
	}
	if lines.Err() != nil {
		panic(lines.Err())
	}
	send()
	close(pieces)
	return count, steps
}

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: run FILE [SECONDS]")
		os.Exit(2)
	}
	file, err := os.Open(os.Args[1])
	if err != nil {
		panic(err)
	}
	limit := 30 * time.Second
	if len(os.Args) > 2 {
		limit = time.Duration(number(os.Args[2])) * time.Second
	}
	pieces := make(chan piece, 64)
	var workers sync.WaitGroup
	var output sync.Mutex
	for range runtime.GOMAXPROCS(0) {
		workers.Add(1)
		go func() {
			defer workers.Done()
			for p := range pieces {
				if found := check(p, limit); found != "" {
					output.Lock()
					fmt.Println(found)
					output.Unlock()
				}
			}
		}()
	}
	count, steps := read(file, pieces)
	workers.Wait()
	fmt.Println("checked", count, steps)
}
