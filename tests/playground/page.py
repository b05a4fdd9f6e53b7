# SPDX-License-Identifier: BSL-1.0
"""Tests the page of the playground in a browser: page.py PAGE TOOL ROOT, where PAGE is the address
of its index.html, TOOL the native shell tool and ROOT the top folder of the project. What follows
are arguments of unittest, such as sharding.Sharding or -k reshard."""
import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
import operations
import reading
import sharding
import states
from browser import Browser, missing
from reader import PageTest

if __name__ == '__main__':
    if lacking := missing():
        print(f'skipped: {lacking} is not installed; on Debian: ./run install chromium-driver')
        sys.exit(0)
    PageTest.page, PageTest.tool = sys.argv[1:3]
    PageTest.root = pathlib.Path(sys.argv[3]).resolve()
    with Browser() as PageTest.browser:
        tests = sys.argv[4:] or [one.__name__ for one in (sharding, operations, states, reading)]
        unittest.main(module=None, argv=[sys.argv[0], *tests])
