// SPDX-License-Identifier: Apache-2.0
// Package server is where the drivers of the libraries over go-redis connect to.
package server

import (
	"context"

	"github.com/redis/go-redis/v9"
)

// pipelining is "automatic" in a driver whose library goes by go-redis's AutoPipeline, with its defaults: commands of
// several callers share writes. Set when the driver is linked.
var pipelining string

// Connect makes sure that the server answers.
func Connect(url string) (redis.UniversalClient, error) {
	options, err := redis.ParseURL(url)
	if err != nil {
		return nil, err
	}
	connection := redis.NewClient(options)
	if err := connection.Ping(context.Background()).Err(); err != nil {
		return nil, err
	}
	if pipelining == "automatic" {
		return connection.AutoPipeline()
	}
	return connection, nil
}
