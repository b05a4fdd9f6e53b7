# SPDX-License-Identifier: BSL-1.0
"""What a reader of the playground's page does and sees."""
import pathlib
import subprocess
import tempfile
import time
import unittest
import urllib.parse

POD = {'mesh': 'data=2,model=4', 'shape': '8x16'}


def state(**texts):
    """The fragment of a state."""
    return '#' + urllib.parse.urlencode(texts)


class PageTest(unittest.TestCase):
    """Tests of the page at the address `page`, in the window `browser`; `tool` is the native shell
    tool, and `root` the top folder of the project."""
    page = tool = root = browser = None

    def tearDown(self):
        self.assertEqual(self.browser.complaints(), [])

    def show(self, **texts):
        """Opens a state."""
        self.browser.open(self.page + state(**texts))

    def press(self, selector, words):
        """Clicks on the button with these words among those selected."""
        others = self.browser.run(
            'const all = [...document.querySelectorAll(arguments[0])];'
            'const found = all.find((one) => one.textContent.trim() === arguments[1]);'
            'found?.click(); return found ? null : all.map((one) => one.textContent)',
            selector, words)
        self.assertIsNone(others, f'the buttons are these, and none is {words!r}')

    def value(self, name):
        return self.browser.run('return at(arguments[0]).value', name)

    def fault(self, name):
        """The message at a field."""
        return self.browser.text(f'#{name}-fault')

    def faults(self):
        """The fields that are marked as wrong."""
        return self.browser.run('return [...document.querySelectorAll("[aria-invalid]")]'
                                '.map((one) => one.id)')

    def marked(self, name):
        """The marked parts of the text of a field."""
        return self.browser.run('return [...at(`${arguments[0]}-marks`).querySelectorAll("mark")]'
                                '.map((one) => one.textContent)', name)

    def picture(self):
        """The picture of the sharding, or an empty text."""
        return self.browser.run('return at("picture").shadowRoot?.innerHTML ?? ""')

    def title(self):
        return self.browser.run('return at("picture").shadowRoot?.querySelector("title")'
                                '?.textContent ?? ""')

    def drawn(self, **options):
        """What the native tool draws, as a browser writes it."""
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / 'picture.svg'
            words = [word for name, text in options.items() for word in (f'--{name}', text)]
            subprocess.run([self.tool, 'draw', *words, '--svg', str(file)], check=True, timeout=60)
            image = file.read_text()
        return self.browser.run('return pictureOf(arguments[0]).shadowRoot.innerHTML', image)

    def wait_for_fragment(self, **texts):
        """Waits until the address holds this state."""
        def held():
            return dict(urllib.parse.parse_qsl(self.browser.run('return location.hash.slice(1)')))
        end = time.monotonic() + 5
        while held() != texts and time.monotonic() < end:
            time.sleep(0.05)
        self.assertEqual(held(), texts)
