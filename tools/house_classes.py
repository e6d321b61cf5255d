# SPDX-License-Identifier: Apache-2.0
"""Of tools/house: what the classes of a source offer and keep. Constructors, destructors, assignments and what is defaulted
or deleted are no methods here; each overload is one. Static members are no fields."""
import re
from dataclasses import dataclass

BLANKED = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|'
                     r'^[ \t]*#(?:[^\n\\]|\\.)*', re.DOTALL | re.MULTILINE)
NUMBER = re.compile(r"\b\d[\w.]*(?:'[\w.]+)+")  # whose separators are no quotes
TOKEN = re.compile(r"\w+|::|->|\[\[|\]\]|\S")
CLOSING = {"(": ")", "{": "}", "[": "]", "[[": "]]", "<": ">"}
# Of these the parentheses belong to the word, and not to a function's parameters.
WORDS_WITH_ARGUMENTS = {"alignas", "decltype", "explicit", "noexcept", "requires"}
NO_MEMBERS = {"using", "typedef", "friend", "static_assert", "enum"}
ACCESSES = {"public", "private", "protected"}


@dataclass
class Class:
    name: str
    place: str
    methods: int = 0  # public ones
    fields: int = 0
    record: bool = True  # all its members are public
    abstract: bool = False  # it has a pure virtual function
    bases: tuple = ()


def parameters(tokens):
    """Where the parameters of a function begin; None: it is none."""
    depth = 0
    for i, token in enumerate(tokens):
        if token == "operator":
            return i
        if token == "(" and depth == 0 and tokens[i - 1] not in WORDS_WITH_ARGUMENTS:
            return None if tokens[i + 1 : i + 2] == ["*"] else i
        if depth == 0 and token in ("=", "{"):
            return None
        depth += (token in ("<", "[", "(")) - (token in (">", "]", ")"))
    return None


def declared(tokens):
    """How many variables a declaration has: its commas outside of all groups, and one."""
    depth, count = 0, 1
    for token in tokens:
        depth += (token in ("<", "(", "{", "[")) - (token in (">", ")", "}", "]"))
        count += token == "," and depth == 0
    return count


def count(member, one, access):
    if not member or member[0] in NO_MEMBERS or (member[0] in ("class", "struct") and len(member) == 2):
        return
    begin = parameters(member)
    if begin is None and "static" in member:
        return
    one.record &= access == "public"
    if begin is None:
        one.fields += declared(member)
        return
    one.abstract |= "virtual" in member and member[-2:] == ["=", "0"]
    special = member[begin - 1] == one.name.split("::")[-1] or "~" in member[:begin] or (
        member[begin] == "operator" and member[begin + 1] in ("=", "==", "<", "<="))
    one.methods += access == "public" and not special and member[-2:] not in (["=", "default"], ["=", "delete"])


class Reader:
    """All classes of a file, those within others too."""

    def __init__(self, source, file):
        source = BLANKED.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), NUMBER.sub("0", source))
        lines = list(enumerate(source.splitlines(), 1))
        self.file, self.found = file, []
        self.tokens = [token for _, line in lines for token in TOKEN.findall(line)] + [";"]
        self.lines = [number for number, line in lines for _ in TOKEN.findall(line)] + [len(lines)]
        self.drop_groups()
        i = 0
        while i < len(self.tokens):
            head = self.head(i)
            i = self.read_class(i, *head, outer="") if head else i + 1

    def behind(self, at):
        """Where the group that opens here is over."""
        opens, closes, depth = self.tokens[at], CLOSING[self.tokens[at]], 0
        for i in range(at, len(self.tokens)):
            depth += (self.tokens[i] == opens) - (self.tokens[i] == closes)
            if depth == 0:
                return i + 1
        raise ValueError(f"{self.file}:{self.lines[at]}: nothing closes this {opens}")

    def drop_groups(self):
        """Attributes, annotations of ours, and the parameters of templates."""
        kept, i = [], 0
        while i < len(self.tokens):
            if self.tokens[i] == "[[":
                i = self.behind(i)
            elif self.tokens[i].startswith("HOLDFAST_"):
                i = self.behind(i + 1) if self.tokens[i + 1] == "(" else i + 1
            elif self.tokens[i : i + 2] == ["template", "<"]:
                i = self.behind(i + 1)
            else:
                kept.append(i)
                i += 1
        self.tokens, self.lines = [self.tokens[i] for i in kept], [self.lines[i] for i in kept]

    def head(self, at):
        """Name, bases, and place of the body, of a class that is defined here; None: no class is."""
        tokens = self.tokens
        if tokens[at] not in ("class", "struct") or tokens[at - 1] in ("enum", "<", ",", "friend"):
            return None
        i, name = at + 1, []
        while re.match(r"\w|::|<", tokens[i]):
            if tokens[i] == "<":  # a specialisation
                i = self.behind(i)
                continue
            if name and "::" not in (name[-1], tokens[i]) and tokens[i] != "final":
                return None  # a variable of it
            name += [tokens[i]] if tokens[i] != "final" else []
            i += 1
        begin = i
        while tokens[begin] == ":" and tokens[i] not in ("{", ";"):
            i += 1
        return ("".join(name), tuple(tokens[begin:i]), i) if tokens[i] == "{" else None

    def read_class(self, at, name, bases, body, outer):
        """Returns where it is over."""
        tokens = self.tokens
        one = Class(f"{outer}::{name}" if outer else name, f"{self.file}:{self.lines[at]}", bases=bases)
        self.found.append(one)
        end = self.behind(body) - 1
        access = "public" if tokens[at] == "struct" else "private"
        i = body + 1
        while i < end:
            if tokens[i] in ACCESSES and tokens[i + 1] == ":":
                access = tokens[i]
                i += 2
            else:
                i = self.read_member(i, one, access)
        return end + 1

    def read_member(self, i, one, access):
        tokens, member = self.tokens, []
        initialised = False  # of a constructor, its members are being initialised
        while tokens[i] != ";":
            function = parameters(member) is not None
            head = None if function else self.head(i)
            if head:
                i = self.read_class(i, *head, outer=one.name)
                member = ["type"] if tokens[i] != ";" else []  # of the variable that follows
            elif tokens[i] == "{":
                body = function and not (initialised and re.match(r"\w|>", member[-1]))
                member += [] if body else ["{", "}"]
                i = self.behind(i)
                if body:
                    i -= 1
                    break
            else:
                initialised |= function and tokens[i] == ":"
                member.append(tokens[i])
                i += 1
        count(member, one, access)
        return i + 1


def classes_of(files):
    return [one for file, text in files.items() for one in Reader(text, file).found]
