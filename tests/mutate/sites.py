"""Finds where a C++ file can be mutated, and makes the edits that put all its mutants into it (mutant schemata).

libclang finds sites in function bodies, constructor initialisers and default member initialisers (other than zero). An
edit wraps an expression in a call of mutant.hpp: `a < b` becomes `trocar_mut::less<17>(a , b)`, so that edits nest and
line numbers do not change. A named constant is mutated where it is used: all its uses share one mutant.
"""
import re
from dataclasses import dataclass

from clang import cindex
from clang.cindex import CursorKind as Kind, TypeKind

COMPARE = {'<': ('less', '>=', '<='), '<=': ('less_equal', '>', '<'), '>': ('greater', '<=', '>='),
           '>=': ('greater_equal', '<', '>')}
BINARY = {'+': ('add', '-'), '-': ('sub', '+'), '*': ('mul', '/'), '/': ('div', '*'), '%': ('mod', '*'),
          '==': ('eq', '!='), '!=': ('ne', '=='), '&': ('bit_and', '|'), '|': ('bit_or', '&'), '^': ('bit_xor', '&'),
          '<<': ('left', '>>'), '>>': ('right', '<<'), '+=': ('add_to', '-='), '-=': ('sub_from', '+='),
          '*=': ('mul_by', '/='), '/=': ('div_by', '*='), '&=': ('and_with', '|='), '|=': ('or_with', '&=')}
LOGIC = {'&&': '||', '||': '&&', 'and': 'or', 'or': 'and'}
OVERLOADED = set(COMPARE) | (set(BINARY) - {'<<', '>>', '|'})
FUNCTIONS = {Kind.FUNCTION_DECL, Kind.CXX_METHOD, Kind.CONSTRUCTOR, Kind.DESTRUCTOR, Kind.CONVERSION_FUNCTION,
             Kind.FUNCTION_TEMPLATE, Kind.LAMBDA_EXPR}
SCOPES = {Kind.NAMESPACE, Kind.CLASS_DECL, Kind.STRUCT_DECL, Kind.CLASS_TEMPLATE,
          Kind.CLASS_TEMPLATE_PARTIAL_SPECIALIZATION, Kind.UNEXPOSED_DECL, Kind.LINKAGE_SPEC}
REAL = {TypeKind.FLOAT, TypeKind.DOUBLE, TypeKind.LONGDOUBLE}
WHOLE = {TypeKind.INT, TypeKind.UINT, TypeKind.LONG, TypeKind.ULONG, TypeKind.LONGLONG, TypeKind.ULONGLONG,
         TypeKind.SHORT, TypeKind.USHORT, TypeKind.CHAR_S, TypeKind.SCHAR, TypeKind.UCHAR}
INTRINSICS = [('add', 'sub'), ('sub', 'add'), ('mul', 'add'), ('min', 'max'), ('max', 'min')]


@dataclass
class Mutant:
    """One change: `kind` is the kind of change, `number` its index among all mutants of the run."""
    file: str
    line: int
    column: int
    kind: str
    change: str
    number: int = -1


@dataclass
class Edit:
    """Replaces bytes [start, end) of a file; `texts` are the text before, in place of, and after what it wraps."""
    start: int
    end: int
    operator: tuple      # (start, end) of the operator's own bytes; None when the whole is wrapped
    texts: tuple         # before, instead of the operator, after; {0} is the first mutant's number
    mutants: list
    shared: tuple = None  # (file, offset) of the named constant whose uses share these mutants


class Finder:
    def __init__(self, path, name, text, unit):
        self.path, self.name, self.text, self.unit = path, name, text, unit
        self.edits = {}

    def find(self):
        for cursor in self.unit.cursor.get_children():
            if cursor.location.file and cursor.location.file.name == self.path:
                self.declaration(cursor)
        return list(self.edits.values())

    def declaration(self, cursor):
        if cursor.kind in FUNCTIONS:
            self.function(cursor)
        elif cursor.kind == Kind.FIELD_DECL:
            self.variable(cursor)
        elif cursor.kind in SCOPES:
            for child in cursor.get_children():
                self.declaration(child)

    def function(self, cursor):
        for child in cursor.get_children():
            if child.kind == Kind.COMPOUND_STMT or child.kind.is_expression():
                self.visit(child, cursor)

    def bytes_of(self, cursor):
        return self.text[cursor.extent.start.offset:cursor.extent.end.offset]

    def variable(self, cursor):
        head = self.bytes_of(cursor)
        if re.match(rb'(\w+\s+)*?(constexpr|static)\b', head):
            return
        for child in cursor.get_children():
            zero = cursor.kind == Kind.FIELD_DECL and re.fullmatch(rb'(\w*\{)?-?0?\.?0*[fu]?\}?', self.bytes_of(child))
            if child.kind.is_expression() and not self.is_array_size(child) and not zero:
                self.visit(child, cursor)

    def is_array_size(self, cursor):
        return self.text[:cursor.extent.start.offset].rstrip()[-1:] == b'[' and cursor.kind == Kind.INTEGER_LITERAL

    def visit(self, cursor, parent):
        kind = cursor.kind
        if kind in (Kind.STATIC_ASSERT, Kind.TYPE_REF, Kind.TEMPLATE_REF, Kind.CXX_UNARY_EXPR):
            return
        if kind in (Kind.VAR_DECL, Kind.FIELD_DECL):
            return self.variable(cursor)
        if kind in SCOPES:
            return self.declaration(cursor)
        children = list(cursor.get_children())
        if kind in (Kind.BINARY_OPERATOR, Kind.COMPOUND_ASSIGNMENT_OPERATOR) or kind == Kind.CALL_EXPR:
            self.binary(cursor, children)
            self.intrinsic(cursor, children)
        if kind in (Kind.UNARY_OPERATOR, Kind.CALL_EXPR) and len(children) in (1, 2):
            self.unary(cursor, children[0])
        if kind in (Kind.INTEGER_LITERAL, Kind.FLOATING_LITERAL):
            return self.literal(cursor, parent)
        if kind == Kind.DECL_REF_EXPR:
            return self.constant(cursor)
        skip = 0
        if kind == Kind.CASE_STMT or self.is_constant_if(cursor):
            skip = 1
        for child in children[skip:]:
            self.visit(child, cursor)

    def is_constant_if(self, cursor):
        return cursor.kind == Kind.IF_STMT and re.match(rb'if\s+constexpr\b', self.bytes_of(cursor))

    def add(self, cursor, operator, texts, changes):
        start, end = cursor.extent.start, cursor.extent.end
        at = operator[0] if operator else start.offset
        line = self.text.count(b'\n', 0, at) + 1
        column = at - (self.text.rfind(b'\n', 0, at) + 1) + 1
        mutants = [Mutant(self.name, line, column, kind, change) for kind, change in changes]
        self.edits.setdefault((start.offset, end.offset, operator),
                              Edit(start.offset, end.offset, operator, texts, mutants))

    def binary(self, cursor, children):
        if len(children) not in (2, 3):
            return
        left, right = children[0].extent.end.offset, children[-1].extent.start.offset
        if left >= right or cursor.extent.start.offset > children[0].extent.start.offset:
            return
        between = re.sub(rb'//[^\n]*', lambda m: b' ' * len(m[0]), self.text[left:right])
        name = between.strip().decode(errors='replace')
        start = left + len(between) - len(between.lstrip())
        operator = (start, start + len(name))
        if cursor.kind == Kind.CALL_EXPR and name not in OVERLOADED:
            return
        call = 'trocar_mut::{}<{{0}}>('
        if name in COMPARE:
            function, negated, boundary = COMPARE[name]
            whole = children[0].type.get_canonical().kind in WHOLE
            self.add(cursor, operator, (call.format(function), ',', ')'),
                     [('comparison', f'{name} -> {negated}'),
                      ('boundary' if whole else 'boundary of reals', f'{name} -> {boundary}')])
        elif name in BINARY:
            function, other = BINARY[name]
            if 'basic_string' in cursor.type.get_canonical().spelling:
                return
            kind = 'comparison' if name in ('==', '!=') else 'arithmetic'
            self.add(cursor, operator, (call.format(function), ',', ')'), [(kind, f'{name} -> {other}')])
        elif name in LOGIC:
            on = 'trocar_mut::on<{0}>() != '
            self.add(cursor, operator, (f'({on}(({on}static_cast<bool>(', f')) {name} ({on}static_cast<bool>(', '))))'),
                     [('logic', f'{name} -> {LOGIC[name]}')])

    def unary(self, cursor, operand):
        start, inner = cursor.extent.start.offset, operand.extent.start.offset
        sign = self.text[start:inner].strip()
        if sign not in (b'-', b'!'):
            return
        function, kind = ('neg', 'sign') if sign == b'-' else ('not_', 'logic')
        self.add(cursor, (start, start + 1), (f'trocar_mut::{function}<{{0}}>(', '', ')'),
                 [(kind, f'{sign.decode()}x -> x')])

    def literal(self, cursor, parent):
        start, end = cursor.extent.start.offset, cursor.extent.end.offset
        token = self.text[start:end]
        if not re.fullmatch(rb"[0-9.][0-9a-zA-Z.'+-]*", token):
            return
        before, after = self.text[max(0, start - 80):start].rstrip(), self.text[end:end + 20].lstrip()
        if re.search(rb'\w<$', before) and after[:1] in b',>' or before[-1:] == b',' and re.match(rb'>[({:,\s]', after):
            return
        if self.is_array_size(cursor) and parent.kind in (Kind.VAR_DECL, Kind.FIELD_DECL):
            return
        changes = [('constant', f'{token.decode()} -> + 1')]
        if cursor.kind == Kind.FLOATING_LITERAL:
            zero = not re.search(rb'[1-9]', token.lower().split(b'e')[0])
            signed = before[-1:] == b'-'
            changes.append(('none' if zero or signed else 'constant', f'{token.decode()} -> -{token.decode()}'))
        self.add(cursor, None, ('trocar_mut::num<{0}>(', '', ')'), changes)

    def constant(self, cursor):
        """A use of a named constant of arithmetic type."""
        target = cursor.referenced
        if target is None or target.kind != Kind.VAR_DECL or not target.location.file:
            return
        kind = target.type.get_canonical().kind
        if kind not in REAL | WHOLE or not target.type.is_const_qualified():
            return
        tokens = [token.spelling for token in target.get_tokens()]
        # NaN stays NaN under every mutation.
        if 'constexpr' not in tokens or 'quiet_NaN' in tokens or not re.fullmatch(rb'[\w:]+', self.bytes_of(cursor)):
            return
        key = (target.location.file.name, target.location.offset)
        changes = [('constant', f'{target.spelling} -> + 1')]
        if kind in REAL:
            changes.append(('constant', f'{target.spelling} -> -{target.spelling}'))
        self.add(cursor, None, ('trocar_mut::num<{0}>(', '', ')'), changes)
        edit = self.edits[cursor.extent.start.offset, cursor.extent.end.offset, None]
        edit.shared = key
        for mutant in edit.mutants:
            mutant.line = target.location.line
            mutant.file, mutant.column = key[0], target.location.column

    def intrinsic(self, cursor, children):
        match = re.match(rb'_mm(256|512)?_(\w+?)_(ps|pd)\(', self.bytes_of(cursor))
        if cursor.kind != Kind.CALL_EXPR or not match or len(children) != 3:
            return
        for name, other in INTRINSICS:
            if match[2].decode() == name:
                start = cursor.extent.start.offset
                whole = match[0][:-1].decode()
                changed = whole.replace(f'_{name}_', f'_{other}_')
                self.add(cursor, (start, start + len(whole)), ('', f'trocar_mut::{whole}<{{0}}>', ''),
                         [('intrinsic', f'{whole} -> {changed}')])


def find(path, name, arguments):
    """Every edit of one file, with mutants that are not yet numbered; None when the file does not parse."""
    text = open(path, 'rb').read()
    unit = cindex.Index.create().parse(path, args=arguments)
    if any(d.severity >= cindex.Diagnostic.Fatal for d in unit.diagnostics):
        return None
    return Finder(path, name, text, unit).find()


def apply(text, edits):
    """The file's text with all edits made; the wrapped expressions nest."""
    pieces = []                                   # (offset, rank, tie, end, text): insertions, in this order
    for edit in edits:
        before, middle, after = (piece.format(edit.mutants[0].number) for piece in edit.texts)
        pieces.append((edit.start, 1, -edit.end, edit.start, before))
        pieces.append((edit.end, 0, -edit.start, edit.end, after))
        if edit.operator:
            start, end = edit.operator
            pieces.append((start, 2, 0, end, middle))
    result, at = [], 0
    for offset, _, _, end, piece in sorted(pieces):
        result += [text[at:offset], piece.encode()]
        at = end
    return b''.join(result + [text[at:]])
