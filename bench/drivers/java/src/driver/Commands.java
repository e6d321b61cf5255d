// SPDX-License-Identifier: Apache-2.0
package driver;

/** Which part of the driver carries out which command. */
final class Commands {
    private final Loops loops;
    private final FirstCaller first;
    private final Holds holds;
    private final Crowd crowd;

    Commands(Clients clients) {
        loops = new Loops(clients);
        first = new FirstCaller(clients);
        holds = new Holds(clients);
        crowd = new Crowd(clients, first);
    }

    Answer carryOut(Command command) throws Exception {
        switch (command.verb()) {
            case "pairs":
                return loops.pairs(command);
            case "hot":
                return loops.hot(command);
            case "take":
                return first.take(command);
            case "release":
                return first.release(command);
            case "hold":
                return holds.hold(command);
            case "crowd":
                return crowd.gather(command);
            case "crowd_go":
                return crowd.go();
            case "usage":
                return new Answer().with("cpu_us", Usage.cpuMicroseconds()).with("rss_bytes", Usage.residentBytes());
            default:
                throw new IllegalArgumentException("no such command: " + command.verb());
        }
    }
}
