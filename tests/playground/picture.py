# SPDX-License-Identifier: BSL-1.0
"""Writes the picture of the page that the documentation shows:

    ./run playground
    python3 tests/playground/picture.py build/playground/index.html docs/pictures/playground.png

Further arguments are the fragment of the state, the width and the height in pixels, and `dark`.
"""
import pathlib
import sys

sys.dont_write_bytecode = True
from browser import Browser

STATE = 'mesh=data=2,model=4&shape=8x16&sharding=data,-&to=-,data'


def main(page, file, fragment=STATE, width='1180', height='940', scheme='light'):
    with Browser(int(width), int(height)) as browser:
        browser.prefer(scheme)
        browser.open(f'{pathlib.Path(page).resolve().as_uri()}#{fragment}')
        browser.picture(file, whole=height == '0')


if __name__ == '__main__':
    main(*sys.argv[1:])
