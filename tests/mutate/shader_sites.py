"""Makes the mutants of a GLSL file: each is the file's text with one changed token. Comments, preprocessor lines and layouts are
not changed. Without an AST, a comparison counts as one of integers only in the head of a loop."""
import re

from sites import BINARY, COMPARE, LOGIC, Mutant

TOKEN = re.compile(r'//[^\n]*|^\s*#[^\n]*|layout\s*\([^)]*\)|[A-Za-z_]\w*|0x[0-9a-fA-F]+u?'
                   r'|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[fu]?|<<=|>>=|[-+*/%&|^=!<>]=|&&|\|\||<<|>>|\+\+|--|\S', re.M)
OPERAND_ENDS = re.compile(r'[\w)\]]$')


def changes(token, before, line):
    """(kind, replacement) for one token; `before` is the previous token."""
    binary = bool(OPERAND_ENDS.search(before)) and before != 'return'
    if token in COMPARE:
        _, negated, boundary = COMPARE[token]
        kind = 'boundary' if 'for (' in line else 'boundary of reals'
        return [('comparison', negated), (kind, boundary)]
    if token in BINARY and binary:
        return [('comparison' if token in ('==', '!=') else 'arithmetic', BINARY[token][1])]
    if token in LOGIC:
        return [('logic', LOGIC[token])]
    if token == '-' and not binary:
        return [('sign', '')]
    if token == '!':
        return [('logic', '')]
    if re.match(r'0x', token):
        return []
    if re.match(r'[\d.]+', token) and token != '.':
        if re.fullmatch(r'\d+u?', token):
            whole = int(token.rstrip('u'))
            return [('constant', str(whole + 1) + ('u' if token.endswith('u') else ''))]
        value = float(token.rstrip('f'))
        more = value + 1.0 if abs(value) <= 1000.0 else 2.0 * value
        both = [('constant', repr(more))]
        return both + [('constant', f'(-{token})')] if value != 0.0 and before != '-' else both
    return []


def find(name, text):
    """[(mutant, changed text)]"""
    found, before = [], ''
    for match in TOKEN.finditer(text):
        token = match[0]
        if token.startswith(('//', 'layout')) or token.lstrip().startswith('#'):
            continue
        start = text.rfind('\n', 0, match.start()) + 1
        line = text[start:text.find('\n', match.start())]
        for kind, other in changes(token, before, line):
            number = text.count('\n', 0, match.start()) + 1
            mutant = Mutant(name, number, match.start() - start + 1, kind, f'{token} -> {other or "(nothing)"}')
            found.append((mutant, text[:match.start()] + other + text[match.end():]))
        before = token
    return found
