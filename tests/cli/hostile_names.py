#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the completions offer when somebody else names the locks: real shells, each on its own pseudo-terminal, get TAB
and Enter while a server holds locks whose names are made to be run, to be taken for options, or to act on a terminal.

Usage: hostile_names.py PORT TOOL COMPLETIONS SHELL...   prints what went wrong; exit 1 if anything did

Every hostile name has the word `evil` in it, and what it would run makes a file: no shell may show that word, and no
file may appear. Plain names must be offered and must work, or the test would pass without completions. So must the kinds
that each verb takes.
"""
import fcntl
import os
import pathlib
import pty
import re
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time

PROMPT, CONTINUATION = "ready.*at> ", "more> "
LIMIT = 30  # seconds for one answer of a shell, which takes some hundredths
PLAIN = ["plain-one", "queue:two", "dir/3.1", "ann@host:4", "x,y+z", "_tail"]
KINDS = ["lock", "fenced", "fair", "simple", "spin", "read-write", "permit", "semaphore", "latch", "all"]
REFUSED = {"run": {"permit"}, "acquire": {"permit", "spin", "read-write"}}  # once it is read: --max, or no ticket
KINDS_END = ", or several with commas between"
HOSTILE = [
    # Options, of the tool or of what a completion script might call.
    b"-evil", b"-cevil", b"--evil", b"--yes=evil", b"--url=evil", b"--yes", b"-y", b"-/touch${IFS}evil;:/e#",
    b"-e/touch${IFS}evil;:/e#", b"s/^/touch evil/e",
    # Substitutions.
    b"$(touch evil)", b"`touch evil`", b"a$(touch evil)", b"a`touch evil`", b"$(touch${IFS}evil)", b"a$(>evil)",
    b"${x:-$(touch evil)}", b"$((a[$(touch evil)]))", b"a[$(touch evil)]", b"$evil", b"(touch evil)", b"a(touch evil)b",
    b"<(touch evil)", b"=(touch evil)", b"${(e):-$(touch evil)}",
    # Quotes.
    b"'$(touch evil)", b"\"$(touch evil)", b"'$(touch evil)'", b"\"`touch evil`\"", b"';touch evil;'",
    b"\";touch evil;\"", b"a'$(touch evil)'b", b"a\"$(touch evil)\"b", b"\\$(touch evil)", b"a\\';touch evil;#",
    b"$'\\x3btouch evil'", b"\\\";touch evil;\\\"",
    # The same where bash quotes in another way, because the locale does not know a character.
    b"'$(touch evil)\xc3\xa9", b"'`touch evil`\xc3\xa9'", b"\"$(touch evil)\xc3\xa9", b"a'$(touch evil)\xc3\xa9",
    # Further commands, redirections, jobs, history, comments.
    b"a;touch evil", b"a&touch evil", b"a|touch evil", b"a||touch evil", b">evil", b"a>evil", b"#evil", b"!evil",
    b"^evil^", b"%evil", b"a\ntouch evil\n", b"a\rtouch evil\r",
    # Patterns and expansions.
    b"*evil", b"?evil", b"[evil]", b"{evil,b}", b"{touch,evil}", b"~evil", b"=evil", b"a=~evil",
    # What a terminal acts on, what cannot be seen, what looks like something else, and no text at all.
    b"evil evil", b" evil", b"evil ", b"a\tevil", b"a\x15touch evil\r", b"\x1b]0;evil\x07", b"evil\x1b[2J",
    b"evil\xc2\x9b31m", b"evil\x9b31m", b"evil\xff", b"\xc3\xa9-evil", b"evil\xe2\x80\xae", b"evil\xc2\xad",
    b"a\x00evil", b"redis://u:evil@h/", b"redis://u:evil", b"evil" * 100,
]


class Server:
    """A database of the server, which gets names of locks."""

    def __init__(self, port, database):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.replies = self.socket.makefile("rb")
        self.do(b"SELECT", b"%d" % database)

    def do(self, *words):
        self.socket.sendall(b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(it), it) for it in words))
        reply = self.replies.readline()
        assert reply[:1] in b"+:", reply

    def holds(self, names):
        self.do(b"FLUSHDB")
        for name in names:
            self.do(b"HSET", name, b"11111111-2222-4333-8444-555555555555:1", b"1")
            self.do(b"PEXPIRE", name, b"3600000")


STARTS = {
    "bash": (["bash", "--norc", "--noprofile", "-i"],
             "PS1='a''t> '; PS2='mo''re> '; PROMPT_COMMAND='echo rea\"\"dy'; bind 'set bell-style none'; . {completions}/holdfast.bash"),
    "zsh": (["zsh", "-f", "-i"],
            "PS1='a''t> '; PS2='mo''re> '; precmd() {{ print rea''dy }}; unsetopt beep; fpath=({completions} $fpath); "
            "autoload -U compinit; compinit -u -D"),
    "fish": (["fish", "--no-config", "-i"],
             "function fish_prompt; echo 'a''t> '; end; function at_prompt --on-event fish_prompt; echo rea''dy; end; "
             "set -g fish_autosuggestion_enabled 0; function fish_greeting; end; source {completions}/holdfast.fish; "
             # Enter in an open quote only goes to the next line, without a word.
             "function close_and_run; if string match -qr '^[^\\x27\"]*[\\x27\"][^\\x27\"]*$' -- (commandline -b); "
             "commandline -a (string match -r '[\\x27\"]' -- (commandline -b)); end; commandline -f execute; end; "
             "bind \\co close_and_run"),
}


class Shell:
    def __init__(self, name, lang, folder, port, database, tool, completions):
        self.name, self.folder = name, folder
        (folder / "home").mkdir(parents=True)
        (folder / "here").mkdir()
        program = folder / "here" / "holdfast"  # what `./holdfast` would run
        program.write_text("#!/bin/sh\necho >ran\n")
        program.chmod(0o755)
        command, begin = STARTS[name]
        environment = {
            "PATH": f"{tool.parent}:{os.environ['PATH']}", "HOME": str(folder / "home"), "LANG": lang, "LC_ALL": lang,
            "TERM": "xterm", "HOLDFAST_URL": f"redis://127.0.0.1:{port}/{database}",
            "HOLDFAST_ETC": str(folder / "etc"), "XDG_RUNTIME_DIR": str(folder / "home"),
        }
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.chdir(folder / "here")
            os.execvpe(command[0], command, environment)
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 200, 240, 0, 0))
        self.before = set(os.listdir(folder / "here"))
        self.keys(begin.format(completions=completions) + "\r")
        self.until(PROMPT)
        self.line("")

    def keys(self, keys):
        os.write(self.terminal, keys.encode())

    def until(self, *marks):
        """What the shell shows until one of these, which is the second result. What is typed before the prompt is there
        goes to the terminal, and not to the shell's editor of lines."""
        shown, end = b"", time.monotonic() + LIMIT
        while True:
            readable, _, _ = select.select([self.terminal], [], [], max(0, end - time.monotonic()))
            if not readable:
                raise RuntimeError(f"{self.name} shows {shown!r} and none of {marks}")
            got = os.read(self.terminal, 65536)
            if re.search(rb"\x1b\[0?c", got):
                self.keys("\x1b[?62;c")  # who it is, which newer ones of fish ask a terminal
            shown += got
            found = [it for it in marks if re.search(it.encode(), shown, re.DOTALL)]
            if found:
                return shown.decode(errors="backslashreplace"), found[0]

    def line(self, keys):
        """These keys, and then Enter on an empty line."""
        self.keys(keys + "\x15\r")
        return self.until(PROMPT)[0]

    def enter(self, keys, quote):
        """These keys, and then Enter; if a quote is open still, its end."""
        if self.name == "fish":
            self.keys(keys + "\x0f")
            return self.until(PROMPT)[0]
        self.keys(keys + "\r")
        shown, found = self.until(PROMPT, CONTINUATION)
        if found == CONTINUATION:
            self.keys(quote + "\r")
            shown += self.until(PROMPT)[0]
        return shown

    def made(self):
        """The files that have appeared."""
        return set(os.listdir(self.folder / "here")) - self.before

    def end(self):
        os.close(self.terminal)
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)


class Trial:
    """One shell in one locale."""

    def __init__(self, name, lang, *others):
        self.name, self.lang, self.others = name, lang, others
        self.wrong = []

    def check(self, what, shown):
        offered = re.search(r"evil|(?<![\w-])(--yes|-y)(?![\w-])", shown)
        if offered:
            self.wrong.append(f"{what}: shows {offered[0]!r} in {shown!r}")
        for file in self.shell.made():
            self.wrong.append(f"{what}: made the file {file}")
            (self.shell.folder / "here" / file).unlink()

    def run(self, folder, port, database):
        try:
            self.server = Server(port, database)
            self.shell = Shell(self.name, self.lang, folder, port, database, *self.others)
            try:
                self.plain()
                self.kinds()
                self.hostile_among_plain()
                self.hostile_alone()
            finally:
                self.shell.end()
        except Exception as error:
            self.wrong.append(f"{type(error).__name__}: {error}")

    @staticmethod
    def in_the_end(step, good):
        """What a step shows. Completions give up after a second, which may be too short for a busy machine: then again."""
        for _ in range(20):
            shown = step()
            if good(shown):
                break
        return shown

    def plain(self):
        self.server.holds(it.encode() for it in PLAIN)
        for name in PLAIN:
            for quote in ["", "'", '"']:
                for typed in [2] if quote else [2, len(name) - 1]:
                    step = lambda: self.shell.enter(f"holdfast inspect {quote}{name[:typed]}\t", quote)
                    shown = self.in_the_end(step, lambda shown: f"name   {name}\r" in shown)
                    if f"name   {name}\r" not in shown:
                        self.wrong.append(f"{quote}{name[:typed]} does not become {name}: {shown!r}")

    def kinds(self):
        """Each verb's kinds are those that the tool names when it refuses another, without what it refuses then."""
        tool = self.others[0]
        for verb in ["run", "acquire", "inspect", "wait", "break", "ls", "watch", "top", "exporter"]:
            refused = subprocess.run([tool, verb, "--kind", "nonsense", "x"], capture_output=True, text=True).stderr
            kinds = set(re.search("is not one of (.*)", refused)[1].removesuffix(KINDS_END).split(", "))
            kinds -= REFUSED.get(verb, set())
            in_words = lambda shown: re.sub(r"\x1b\[[\d;?]*[A-Za-z]", " ", shown)
            offered = lambda shown: set(re.findall(rf"(?<![\w-])(?:{'|'.join(KINDS)})(?![\w-])", in_words(shown)))
            step = lambda: self.shell.line(f"holdfast {verb} --kind \t\t")
            found = offered(self.in_the_end(step, lambda shown: offered(shown) == kinds))
            if found != kinds:
                self.wrong.append(f"{verb} --kind offers {sorted(found)} and takes {sorted(kinds)}")

    def hostile_among_plain(self):
        self.server.holds([it.encode() for it in PLAIN] + HOSTILE)
        for verb in ["inspect", "wait -n", "run", "inspect --kind lock"]:
            for quote in ["", "'", '"']:
                step = lambda: self.shell.line(f"holdfast {verb} {quote}\t\t")
                shown = self.in_the_end(step, lambda shown: all(it in shown for it in PLAIN))
                self.check(f"{verb} {quote}", shown)
                missing = [it for it in PLAIN if it not in shown]
                if missing:
                    self.wrong.append(f"{verb} {quote}: {missing} are not offered in {shown!r}")
        self.check("./holdfast", self.shell.line("./holdfast inspect \t\t"))
        self.check("./holdfast", self.shell.line("./holdfast ins\t\t"))

    def hostile_alone(self):
        """A name that nothing else is beside is put into the line, and may be there at the next TAB."""
        for name in HOSTILE:
            if self.lang != "C" and name.isascii() and not re.search(rb"['\"]", name):
                continue  # which locale it is makes no difference
            self.server.holds([name])
            first = chr(name[0])
            beginnings = ["", first] if first.isalnum() else ["", "'", '"'] if first in "'\"$`\\" else [""]
            for begun in beginnings:
                quote = begun if begun in ("'", '"') else ""
                for tabs in ["\t", "\t\t"] if quote else ["\t\t"]:
                    if self.name == "fish" and quote:  # Enter only goes to the next line
                        shown = self.shell.line(f"holdfast inspect {begun}{tabs}{quote}")
                    else:
                        shown = self.shell.enter(f"holdfast inspect {begun}{tabs}", quote)
                    self.check(f"{name!r} after {begun}{tabs!r}", shown)


def main():
    port, tool, completions, shells = int(sys.argv[1]), *(pathlib.Path(it).resolve() for it in sys.argv[2:4]), sys.argv[4:]
    with tempfile.TemporaryDirectory() as folder:
        trials = [Trial(name, lang, tool, completions) for name in shells for lang in ("C", "C.UTF-8")]
        threads = [
            threading.Thread(target=trial.run, args=(pathlib.Path(folder) / str(i), port, i))
            for i, trial in enumerate(trials)
        ]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
    for trial in trials:
        for each in trial.wrong:
            print(f"{trial.name} in {trial.lang}: {each}")
    sys.exit(any(trial.wrong for trial in trials))


main()
