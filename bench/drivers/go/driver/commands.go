// SPDX-License-Identifier: Apache-2.0
package driver

import (
	"fmt"
	"strconv"
	"strings"
)

// command is one line: a verb, and its settings.
type command struct {
	verb     string
	settings map[string]string
}

// mistake is an error in what the harness asked for.
type mistake string

func (m mistake) Error() string { return string(m) }

func parse(line string) command {
	words := strings.Fields(line)
	if len(words) == 0 {
		panic(mistake("an empty line"))
	}
	return command{words[0], settings(words[1:])}
}

func settings(words []string) map[string]string {
	found := map[string]string{}
	for _, word := range words {
		key, value, is := strings.Cut(word, "=")
		if !is {
			panic(mistake("not key=value: " + word))
		}
		found[key] = value
	}
	return found
}

func (c command) text(key string) string {
	value, there := c.settings[key]
	if !there {
		panic(mistake(c.verb + " needs " + key))
	}
	return value
}

func (c command) real(key string) float64 {
	number, err := strconv.ParseFloat(c.text(key), 64)
	if err != nil {
		panic(mistake(fmt.Sprintf("%s: %s is no number", c.verb, key)))
	}
	return number
}

func (c command) number(key string) int { return int(c.real(key)) }

func (c command) numberOr(key string, otherwise int) int {
	if _, there := c.settings[key]; !there {
		return otherwise
	}
	return c.number(key)
}
