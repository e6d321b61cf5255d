# SPDX-License-Identifier: Apache-2.0
"""Finds the places of a C++ source that may be wrong, and rewrites it so that each asks whether it is.

Kinds of mutants: a comparison with or without its boundary, or the other way round; `&&` for `||`; a condition negated;
plus for minus; a number that is one too large; true for false; a statement left out. What the compiler computes
(constants, template arguments, cases) is not touched."""
import dataclasses

from clang import cindex

import planted

Kind = cindex.CursorKind

COMPARE = {"<": "less", "<=": "less_equal", ">": "greater", ">=": "greater_equal", "==": "equal", "!=": "not_equal"}
ARITHMETIC = {"+": "plus", "-": "minus", "*": "times", "/": "divide"}
LOGIC = ("&&", "||")
CONSTANT = (Kind.STATIC_ASSERT, Kind.ENUM_DECL, Kind.TEMPLATE_REF, Kind.ALIGNED_ATTR)
FUNCTIONS = (Kind.FUNCTION_DECL, Kind.CXX_METHOD, Kind.CONSTRUCTOR, Kind.DESTRUCTOR, Kind.CONVERSION_FUNCTION,
             Kind.FUNCTION_TEMPLATE, Kind.LAMBDA_EXPR)
EXPRESSIONS = (Kind.CALL_EXPR, Kind.BINARY_OPERATOR, Kind.COMPOUND_ASSIGNMENT_OPERATOR, Kind.UNARY_OPERATOR,
               Kind.UNEXPOSED_EXPR)


@dataclasses.dataclass
class Mutant(planted.Place):
    # What stands before and behind which part of the source, and what stands instead of an operator.
    wraps: list  # (begin, end, before, behind), with {n} for the number
    instead: list  # (begin, end, text)


def at_same_place(cursor, where=None, depth=4):
    """It, and what is below it and is the same text: a comparison may be behind casts and calls that nobody wrote."""
    where = where or span(cursor)
    if span(cursor) == where:
        yield cursor
    for child in cursor.get_children() if depth else ():
        if span(child)[0] == where[0]:
            yield from at_same_place(child, where, depth - 1)


def span(cursor):
    return cursor.extent.start.offset, cursor.extent.end.offset


class Finder:
    def __init__(self, path, name, arguments):
        self.name = name
        self.text = path.read_bytes()
        self.unit = cindex.Index.create().parse(str(path), args=arguments)
        self.path = str(path)
        self.found = []

    def run(self):
        for top in self.unit.cursor.get_children():
            if top.location.file and top.location.file.name == self.path:
                self.visit(top, None, False)
        return self.found

    def add(self, cursor, what, wraps=(), instead=()):
        self.found.append(Mutant(self.name, cursor.extent.start.line, what, span(cursor)[0], list(wraps), list(instead)))

    def source(self, begin, end):
        return self.text[begin:end].decode()

    def operator_between(self, left, right):
        """Its place and its text, if nothing but an operator stands between them."""
        begin, end = span(left)[1], span(right)[0]
        text = self.source(begin, end)
        word = text.strip()
        at = begin + len(text) - len(text.lstrip())
        return (at, at + len(word), word) if begin < end and word else (0, 0, "")

    def visit(self, cursor, parent, in_function):
        kind = cursor.kind
        if kind in CONSTANT or self.is_constant(cursor):
            return
        in_function = in_function or kind in FUNCTIONS
        if in_function and cursor.extent.start.file and cursor.extent.start.file.name == self.path:
            self.statement(cursor, parent)
            self.binary(cursor)
            self.condition(cursor)
            self.literal(cursor, parent)
        children = list(cursor.get_children())
        if kind == Kind.CASE_STMT:
            children = children[1:]
        for child in children:
            self.visit(child, cursor, in_function)

    def is_constant(self, cursor):
        if cursor.kind not in (Kind.VAR_DECL, Kind.FIELD_DECL):
            return False
        begin, end = span(cursor)
        head = self.source(begin, end).partition("=")[0].split()
        return "constexpr" in head or "constinit" in head

    # ---- what may be wrong ----

    def binary(self, cursor):
        sides = self.sides(cursor)
        if not sides:
            return
        begin, end, word = self.operator_between(*sides)
        left, right = span(sides[0]), span(sides[1])
        if word in COMPARE and "ordering" not in sides[0].type.get_canonical().spelling:
            self.add(cursor, f"{word} is {self.wrong(word)}", [(left[0], right[1], f"mutant::{COMPARE[word]}({{n}}, ", ")")],
                     [(begin, end, ",")])
        elif word in LOGIC:
            # By De Morgan, so that what is on the right is still not computed where it is not needed.
            flip = "mutant::flip({n}, static_cast<bool>("
            self.add(cursor, f"{word} is {'||' if word == '&&' else '&&'}",
                     [(left[0], right[1], "mutant::flip({n}, ", ")"), (*left, flip, "))"), (*right, flip, "))")])
            for side in sides:
                if not self.is_comparison(side):
                    self.add(side, "negated", [(*span(side), flip, "))")])
        elif word in ARITHMETIC and self.can_be_swapped(word, sides):
            self.add(cursor, f"{word} is another", [(left[0], right[1], f"mutant::{ARITHMETIC[word]}({{n}}, ", ")")],
                     [(begin, end, ",")])

    @staticmethod
    def wrong(word):
        return {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}[word]

    @staticmethod
    def can_be_swapped(word, sides):
        def of(side):
            name = side.type.get_canonical().spelling.replace("const ", "").rstrip("& ")
            if name.startswith("std::chrono::duration<"):
                return "duration"
            if name.startswith("std::chrono::time_point<"):
                return "time"
            numbers = ("int", "long", "unsigned", "short", "double", "float")
            return "number" if name.split()[0] in numbers and "*" not in name else "other"
        left, right = map(of, sides)
        if word in "+-":
            return (left, right) in (("number", "number"), ("duration", "duration"), ("time", "duration"))
        return (left, right) == ("number", "number")

    def is_comparison(self, cursor):
        every = (self.sides(each) for each in at_same_place(cursor))
        return any(sides and self.operator_between(*sides)[2] in (*COMPARE, *LOGIC) for sides in every)

    @staticmethod
    def sides(cursor):
        """Of an operator with two."""
        sides = []
        if cursor.kind == Kind.BINARY_OPERATOR:
            sides = list(cursor.get_children())
        elif cursor.kind == Kind.CALL_EXPR and cursor.spelling.startswith("operator"):
            sides = list(cursor.get_arguments())
        return sides if len(sides) == 2 and all(each is not None for each in sides) else None

    def condition(self, cursor):
        if cursor.kind not in (Kind.IF_STMT, Kind.CONDITIONAL_OPERATOR):
            return
        first = next(cursor.get_children(), None)
        if first is None or not first.kind.is_expression() or self.is_comparison(first):
            return
        if "constexpr" in self.source(span(cursor)[0], span(first)[0]):
            return
        self.add(first, "negated", [(*span(first), "mutant::flip({n}, static_cast<bool>(", "))")])

    def literal(self, cursor, parent):
        begin, end = span(cursor)
        if cursor.kind == Kind.CXX_BOOL_LITERAL_EXPR:
            self.add(cursor, f"not {self.source(begin, end)}", [(begin, end, "mutant::flip({n}, ", ")")])
        elif cursor.kind == Kind.INTEGER_LITERAL and self.source(begin, end).replace("'", "").isalnum():
            if parent is not None and "*" in parent.type.spelling:
                return  # a null pointer
            self.add(cursor, "one more", [(begin, end, "mutant::number({n}, ", ")")])

    def statement(self, cursor, parent):
        if parent is None or cursor.kind not in EXPRESSIONS:
            return
        bodies = (Kind.COMPOUND_STMT, Kind.CASE_STMT, Kind.DEFAULT_STMT)
        children = [span(each) for each in parent.get_children()]
        is_body = parent.kind in (Kind.IF_STMT, Kind.FOR_STMT, Kind.WHILE_STMT) and children.index(span(cursor)) > 0 \
            and self.source(*span(cursor))[:1] not in "{" and self.stands_alone(cursor)
        if parent.kind not in bodies and not is_body or not self.stands_alone(cursor):
            return
        begin, end = span(cursor)
        self.add(cursor, "left out: " + " ".join(self.source(begin, end).split())[:60],
                 [(begin, end, "if (mutant::on({n})) {{}} else ", "")])

    def stands_alone(self, cursor):
        """It ends with a semicolon, as a statement does, and is not the head of a loop."""
        end = span(cursor)[1]
        begin = span(cursor)[0]
        before = self.text[:begin].decode(errors="replace").rstrip()
        return self.text[end:end + 1] == b";" and before[-1:] in ("{", "}", ";", ")", ":") or \
            self.text[end:end + 1] == b";" and before.endswith("else")


def find(path, name, arguments):
    return Finder(path, name, arguments).run()


def rewrite(text, mutants):
    """The text (bytes) with these mutants, (number, mutant), built in."""
    before, behind, instead, count = {}, {}, {}, 0
    for number, mutant in mutants:
        for begin, end, head, tail in mutant.wraps:
            before.setdefault(begin, []).append((-end, count, head.format(n=number)))
            behind.setdefault(end, []).append((-begin, -count, tail))
            count += 1
        for begin, end, word in mutant.instead:
            instead[begin] = (end, word)
    out = []
    at = 0
    for place in sorted({*before, *behind, *instead}):
        out.append(text[at:place].decode())
        at = place
        # What is inside ends first; what is outside begins first.
        out.extend(tail for *_, tail in sorted(behind.get(place, [])))
        out.extend(head for *_, head in sorted(before.get(place, [])))
        if place in instead:
            end, word = instead[place]
            out.append(word)
            at = end
    out.append(text[at:].decode())
    return "".join(out)
