// SPDX-License-Identifier: Apache-2.0
package taker;

import java.util.ArrayList;
import java.util.List;

/** One command on its way: its arguments, when it began and ended, and the answer. */
final class Call {
    private final List<String> fields;
    private long began;
    private long ended;

    /** Field 0 is the tag, field 1 the command's word, then the arguments. */
    Call(List<String> fields) {
        if (fields.size() < 2) {
            throw new IllegalArgumentException("a line is TAG COMMAND ARGUMENT...");
        }
        this.fields = fields;
    }

    String tag() {
        return fields.get(0);
    }

    String verb() {
        return fields.get(1);
    }

    int count() {
        return fields.size() - 2;
    }

    String argument(int i) {
        if (i >= count()) {
            throw new IllegalArgumentException(verb() + ": an argument is missing");
        }
        return fields.get(i + 2);
    }

    long number(int i) {
        return Long.parseLong(argument(i));
    }

    long number(int i, long otherwise) {
        return i < count() ? number(i) : otherwise;
    }

    void begin() {
        began = now();
    }

    /** Right after the call that counts, where the command has more to do; without it, the answer's own time. */
    void end() {
        ended = now();
    }

    String answer(String... words) {
        if (ended == 0) {
            end();
        }
        List<String> line = new ArrayList<>(List.of(tag(), Long.toString(began), Long.toString(ended)));
        line.addAll(List.of(words));
        return Line.join(line);
    }

    /** Microseconds of the clock that all processes of a machine share. */
    static long now() {
        return System.nanoTime() / 1000;
    }
}
