// SPDX-License-Identifier: Apache-2.0
package taker;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** A taker on Redisson: the lines that it speaks are described in tests/README.md. */
public final class Main {
    private Main() {
    }

    public static void main(String[] args) throws IOException {
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.US_ASCII);
        Session session = new Session(out::println);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            List<String> fields = Line.split(line);
            if (fields.size() > 1 && fields.get(1).equals("exit")) {
                break;
            }
            session.submit(fields);
        }
        session.close();
        System.exit(0);
    }
}
