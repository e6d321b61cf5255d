// Package server is where the drivers of the libraries over go-redis connect to.
package server

import (
	"context"

	"github.com/redis/go-redis/v9"
)

// Connect makes sure that the server answers.
func Connect(url string) (*redis.Client, error) {
	options, err := redis.ParseURL(url)
	if err != nil {
		return nil, err
	}
	connection := redis.NewClient(options)
	return connection, connection.Ping(context.Background()).Err()
}
