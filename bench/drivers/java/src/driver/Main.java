// SPDX-License-Identifier: Apache-2.0
package driver;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

/**
 * The benchmark's driver for Redisson: RLock, and the kinds of Lockers; its commands are described in bench/README.md.
 *
 * <p>Redisson runs with its defaults: codec, pools (24 to 64 connections, and up to 50 with 5 subscriptions each),
 * threads, timeouts, retries, script cache. One setting may differ, and only where the harness asks for another lease:
 * lockWatchdogTimeout, which is lease_ms (30 s, the default). Every lock is renewed by the watchdog, as it is when no
 * lease is given. A caller is a platform thread; the waiters of a crowd are calls of lockAsync without a thread.
 *
 * <p>cpu_us has the resolution of the JVM's own figure, which is 10 ms on Linux. Readings of memory before and after
 * are taken a second after a System.gc(), neither of which counts in seconds or cpu_us; they contain what the JVM keeps
 * free of its heap, up to 70 % of it.
 *
 * <p>Each time a client that holds nothing takes a lock, its watchdog starts a row of renewals, which ends only if the
 * client holds nothing when it comes round, a third of the lease later. After many pairs, as many rows renew whatever
 * is held by then. So `hold` and `crowd` tell what they cost by themselves only in a driver that was idle for as long.
 */
public final class Main {
    private Main() {
    }

    public static void main(String[] args) {
        int status = 0;
        try {
            serve(Clients.connect(args));
        } catch (Throwable error) {
            error.printStackTrace();
            status = 1;
        }
        // Redisson's threads would keep the process.
        System.exit(status);
    }

    private static void serve(Clients clients) throws IOException {
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        Commands commands = new Commands(clients);
        out.println("ready");
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            out.println(answer(commands, line));
        }
    }

    private static Answer answer(Commands commands, String line) {
        try {
            return commands.carryOut(new Command(line));
        } catch (UnsupportedOperationException none) {
            return new Answer().with("unsupported", none.getMessage());
        } catch (Throwable error) {
            error.printStackTrace();
            return new Answer().with("error", cause(error).toString());
        }
    }

    private static Throwable cause(Throwable error) {
        return error.getCause() == null ? error : cause(error.getCause());
    }
}
