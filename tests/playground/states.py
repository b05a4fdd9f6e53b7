# SPDX-License-Identifier: BSL-1.0
"""States of the page: examples, addresses, and links of other pages to them."""
import re
import urllib.parse

from reader import POD, PageTest, state

# A link to a state, in a sentence or by a reference.
LINK = re.compile(r'(?:\]\(|^\[.*\]: )([^)\s]*playground/index\.html[^)\s]*)', re.MULTILINE)


class States(PageTest):
    def test_examples_hold_except_the_mistakes(self):
        self.browser.open(self.page)
        names = self.browser.run('return Object.keys(examples)')
        self.assertGreaterEqual(len(names), 12)
        self.assertEqual((names[0], names[-1]), ('rows', 'a Megatron block'))
        wrong = {'a mistake': ['sharding'], 'a split softmax': ['ops']}
        for name in names:
            with self.subTest(example=name):
                self.press('#examples button', name)
                self.assertEqual(self.faults(), wrong.get(name, []))
                pressed = 'return document.querySelector("[aria-pressed=true]").textContent'
                self.assertEqual(self.browser.run(pressed), name)
        self.assertIn('1 collective, ', self.browser.text('#total'))

    def test_the_address_holds_the_state(self):
        texts = {**POD, 'sharding': '#sdy.sharding<@mesh, [{"data"}, {}]>', 
                 'to': "P(None, 'model')", 'ops': 'x = f32[8@data, 16]\ny = add x x',
                 'physical': '2x2x2', 'ici': '2x4', 'names': 'data,model'}
        self.show(**texts)
        self.wait_for_fragment(**texts)
        self.browser.clear('#to')
        self.browser.type('#to', 'data+model,-')
        texts['to'] = 'data+model,-'
        self.wait_for_fragment(**texts)
        address = self.browser.run('return location.href')
        self.browser.open(self.page)
        self.browser.open(address)
        self.assertEqual({name: self.value(name) for name in texts}, texts)
        # Another fragment in the same page, as from a link.
        self.browser.run('location.hash = arguments[0]', state(**POD, sharding='-,model'))
        self.browser.wait('return at("sharding").value === "-,model"', 'new state')
        self.assertEqual((self.title(), self.value('ops')), ('f32[8, 16@model]', ''))

    def test_links_of_the_pages_hold(self):
        found = []
        for file in [self.root / 'README.md', *sorted((self.root / 'docs').rglob('*.md'))]:
            for link in LINK.findall(file.read_text()):
                path, _, fragment = link.partition('#')
                # `./run playground --out docs/playground` puts the page beside the others.
                self.assertEqual((file.parent / path).resolve(),
                                 self.root / 'docs/playground/index.html')
                found.append((file.name, fragment))
        self.assertGreater(len(found), 5)
        for file, fragment in found:
            with self.subTest(file=file, fragment=fragment):
                self.browser.open(f'{self.page}#{fragment}')
                self.assertEqual(self.faults(), [])
                self.assertTrue(self.title() or self.browser.text('#results'))
                self.assertTrue(set(dict(urllib.parse.parse_qsl(fragment))) <=
                                set(self.browser.run('return names')))
