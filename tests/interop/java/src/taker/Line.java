// SPDX-License-Identifier: Apache-2.0
package taker;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** One line of the taker protocol: fields between single spaces, each percent-encoded. */
final class Line {
    private Line() {
    }

    static List<String> split(String line) {
        List<String> fields = new ArrayList<>();
        for (String field : line.split(" ", -1)) {
            fields.add(decode(field));
        }
        return fields;
    }

    static String join(List<String> fields) {
        StringBuilder line = new StringBuilder();
        for (String field : fields) {
            if (line.length() > 0) {
                line.append(' ');
            }
            encode(field, line);
        }
        return line.toString();
    }

    private static String decode(String field) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        for (int i = 0; i < field.length(); i++) {
            char c = field.charAt(i);
            if (c == '%') {
                bytes.write(Integer.parseInt(field.substring(i + 1, i + 3), 16));
                i += 2;
            } else {
                bytes.write(c);
            }
        }
        return bytes.toString(StandardCharsets.UTF_8);
    }

    private static void encode(String field, StringBuilder line) {
        for (byte b : field.getBytes(StandardCharsets.UTF_8)) {
            if (b > ' ' && b < 0x7f && b != '%') {
                line.append((char) b);
            } else {
                line.append(String.format("%%%02X", b & 0xff));
            }
        }
    }
}
