#!/usr/bin/python3
"""Checks that a document quotes files as they are:  quoted.py DOCUMENT

A line `<!-- quotes FILE -->` stands before each code block that must equal the file. Prints the first difference;
the exit status is 1 when there is one, or when the document quotes nothing.
"""
import difflib
import re
import sys
from pathlib import Path

QUOTE = re.compile(r'<!-- quotes (\S+) -->\n```\w*\n(.*?)```\n', re.S)


def main():
    text = Path(sys.argv[1]).read_text()
    quotes = QUOTE.findall(text)
    for name, quoted in quotes:
        written = Path(name).read_text()
        if quoted != written:
            sys.stdout.writelines(difflib.unified_diff(written.splitlines(True), quoted.splitlines(True), name, sys.argv[1]))
            return 1
    print(f'{sys.argv[1]} quotes {len(quotes)} files as they are')
    return 0 if quotes else 1


if __name__ == '__main__':
    sys.exit(main())
