// SPDX-License-Identifier: Apache-2.0
// A taker on go-redsync: takes and gives back locks as it is told. The protocol is described in tests/README.md.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
)

var threadCommands = map[string]bool{
	"lock": true, "try": true, "unlock": true, "extend": true, "token": true, "mine": true, "count": true,
	"increment": true, "increment_for": true,
}

// failure is an error with a word of the protocol.
type failure struct{ word, text string }

func (f failure) Error() string { return f.text }

type task struct {
	tag, command string
	args         []string
}

type taker struct {
	session *session
	output  sync.Mutex
	threads map[string]chan task
}

func (t *taker) answer(tag string, began int64, fields ...string) {
	line := []string{encode(tag), fmt.Sprint(began), fmt.Sprint(micros())}
	for _, field := range fields {
		line = append(line, encode(field))
	}
	t.output.Lock()
	defer t.output.Unlock()
	fmt.Println(strings.Join(line, " "))
}

func (t *taker) carryOut(worker *worker, todo task) {
	began := micros()
	value, err := t.dispatch(worker, todo)
	var known failure
	switch {
	case err == nil:
		t.answer(todo.tag, began, "ok", value)
	case errors.As(err, &known):
		t.answer(todo.tag, began, "error", known.word, known.text)
	default:
		t.answer(todo.tag, began, "error", "failed", err.Error())
	}
}

func (t *taker) dispatch(worker *worker, todo task) (string, error) {
	switch {
	case todo.command == "connect":
		made, err := connect(todo.args)
		if err == nil {
			t.session = made
		}
		return "redsync", err
	case todo.command == "cancel":
		return "no", nil
	case t.session == nil:
		return "", failure{"usage", "not connected"}
	}
	return worker.dispatch(context.Background(), t.session, todo.command, todo.args)
}

func (t *taker) submit(line string) {
	var fields []string
	for _, field := range strings.Split(line, " ") {
		fields = append(fields, decode(field))
	}
	todo := task{fields[0], fields[1], fields[2:]}
	if todo.command == "connect" || todo.command == "cancel" {
		t.carryOut(nil, todo)
		return
	}
	number := "0"
	if threadCommands[todo.command] && len(todo.args) > 0 {
		number = todo.args[0]
	}
	tasks, there := t.threads[number]
	if !there {
		tasks = make(chan task, 100)
		t.threads[number] = tasks
		go func() {
			worker := &worker{held: map[string]*hold{}}
			for todo := range tasks {
				t.carryOut(worker, todo)
			}
		}()
	}
	tasks <- todo
}

func main() {
	t := &taker{threads: map[string]chan task{}}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() && !strings.HasSuffix(lines.Text(), " exit") {
		t.submit(lines.Text())
	}
}
