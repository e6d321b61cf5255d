# SPDX-License-Identifier: Apache-2.0
"""f. The storm: 64 clients on one lock, each inside for a millisecond. What a release costs the server in commands."""

import monitor
from bench import Fleet
from contestants import look
from scenarios.b import together
from server import Server

TITLE = "A storm: 64 processes on one lock"
CLIENTS = 64
SHARED = 4  # processes for those that are too heavy to run 64 of them; 16 clients in each
INSIDE_US = 1000
PROFILE_S = 0.5


def run(bench):
    rounds = bench.rounds_of(1, 3)
    seconds = bench.size(1.2, 10)
    bench.note_command(f"hot threads=T seconds={seconds} key=KEY inside_us={INSIDE_US} start_ns=NS")
    for number in range(rounds):
        for name in bench.order(bench.names, number, rounds):
            bench.say(f"round {number + 1} of {rounds}, {name}")
            processes = CLIENTS if look(name).alone else SHARED
            clients = CLIENTS // processes
            with Server() as server, Fleet(bench, server, [name], processes, clients=clients) as fleet:
                if clients > 1:
                    fleet.warm_up()
                one_storm(bench, server, fleet, name, number, clients, seconds)


def one_storm(bench, server, fleet, name, number, clients, seconds):
    def storm(key, length):
        command = f"hot threads={clients} seconds={length} key=f:{name}:{key} inside_us={INSIDE_US}"
        return lambda drivers: together(drivers, command, length)

    if name in fleet.names:
        fleet.measure(name, {"processes": fleet.processes, "clients": clients}, number, storm(number, seconds))
    if name in fleet.names and number == 0:
        with monitor.Monitor(server) as seen:
            fleet.attempt(name, storm("profile", PROFILE_S))
        bench.top_level[name] = seen.top_level()
