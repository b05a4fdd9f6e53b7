# SPDX-License-Identifier: BSL-1.0
"""The fields of a sharding, its answers, and its mistakes."""
import re

from reader import POD, PageTest


class Sharding(PageTest):
    def test_every_keystroke_is_answered(self):
        self.show(**POD)
        self.assertFalse(self.browser.run('return at("answers").checkVisibility()'))
        seen = []
        for letter in 'data,model':
            self.browser.type('#sharding', letter)
            seen.append((self.title(), bool(self.fault('sharding'))))
        self.assertEqual(seen[-1], ('f32[8@data, 16@model]', False))
        self.assertTrue(any(wrong for _, wrong in seen[:-1]))
        self.assertTrue(self.picture() == self.drawn(**POD, spec='data,model'))
        self.wait_for_fragment(**POD, sharding='data,model')

    def test_a_mistake_is_marked_and_mended(self):
        self.show(**POD, sharding='data,-')
        before = self.picture()
        self.browser.clear('#sharding')
        self.browser.type('#sharding', 'data,modle')
        self.assertEqual((self.faults(), self.marked('sharding')), (['sharding'], ['modle']))
        self.assertIn('axes of its mesh', self.fault('sharding'))
        # The last valid picture stays, dimmed: that of `data,m` or before.
        self.assertTrue(self.picture())
        opacity = 'return getComputedStyle(at("picture")).opacity'
        self.assertLess(float(self.browser.run(opacity)), 0.5)
        self.browser.click('#sharding-fault button')
        self.assertEqual((self.faults(), self.fault('sharding')), ([], ''))
        self.assertNotEqual(self.value('sharding'), 'data,modle')
        self.assertEqual(self.browser.run('return document.activeElement.id'), 'sharding')
        self.assertEqual(float(self.browser.run(opacity)), 1)
        self.browser.clear('#sharding')
        self.browser.type('#sharding', 'data,-')
        self.assertTrue(self.picture() == before)

    def test_mistakes_are_shown_at_their_fields(self):
        for wrong, field in [({'mesh': 'data=2,model='}, 'mesh'), ({'shape': '8xx'}, 'shape'),
                             ({'sharding': '{devices=[2,4]<=[8'}, 'sharding'),
                             ({'to': '-,modle'}, 'to')]:
            with self.subTest(field=field):
                self.show(**{**POD, 'sharding': 'data,-', **wrong})
                self.assertEqual(self.faults(), [field])
                self.assertTrue(self.fault(field))
                self.assertEqual(len(self.marked(field)), 1)

    def test_every_notation_gives_the_same_picture(self):
        self.show(**POD, sharding='model,data')
        before = self.picture()
        notations = ['layout', 'jax', 'placements', 'sdy', 'hlo_v3', 'hlo_v2', 'hlo']
        texts = {one: self.browser.text(f'#text-{one}') for one in notations}
        self.assertEqual(texts['jax'], "P('model', 'data')")
        for one in notations:
            with self.subTest(notation=one):
                self.browser.click(f'tr:has(#text-{one}) button:last-child')
                self.assertEqual(self.value('sharding'), texts[one])
                self.assertEqual(self.faults(), [])
                self.assertTrue(self.picture() == before)
        self.assertIn('static_assert', self.browser.text('#text-cpp'))

    def test_a_notation_takes_along_what_its_text_lacks(self):
        self.show(mesh=POD['mesh'], sharding='f32[8@data, 16]')
        before = self.picture()
        self.browser.click('tr:has(#text-jax) button:last-child')
        self.assertEqual(self.value('shape'), '8x16')
        self.assertTrue(self.picture() == before)
        self.show(shape='8x16', sharding="{mesh['data'=2,'model'=4], [{'data'}, {}]}")
        self.browser.click('tr:has(#text-placements) button:last-child')
        self.assertEqual(self.faults(), [])
        self.assertTrue(self.picture() == before)

    def test_a_notation_that_cannot_express_a_layout_says_why(self):
        self.show(mesh='x=2,y=2', shape='12x12', sharding='x%2,y%3')
        rows = [row.split('\t') for row in self.browser.text('#notations').split('\n')]
        self.assertIn(['JAX', 'only contiguous parts of a dimension can be written so'], rows)
        ends = self.browser.run('return [...document.querySelectorAll("#notations td:last-child")]'
                                '.map((one) => one.getBoundingClientRect().right)')
        self.assertEqual(len(set(ends)), 1)

    def test_notations_are_copied(self):
        self.browser.devtools('Browser.grantPermissions',
                              permissions=['clipboardReadWrite', 'clipboardSanitizedWrite'])
        self.show(**POD, sharding='model,data')
        for one in ('sdy', 'cpp'):
            with self.subTest(notation=one):
                button = f'tr:has(#text-{one}) button:first-child'
                self.browser.click(button)
                self.browser.wait(f'return document.querySelector("{button}").textContent'
                                  '=== "Copied"', 'copied text')
                self.assertEqual(self.browser.run('return navigator.clipboard.readText()'),
                                 self.browser.run(f'return at("text-{one}").textContent'))

    def test_a_text_of_two_meanings_says_so(self):
        self.show(mesh='R=2', shape='8', sharding='R')
        self.assertIn('It could also be Shardwise', self.browser.text('#notation'))
        before = self.picture()
        self.press('#notation button', 'Shardwise')
        self.assertEqual(self.faults(), [])
        self.assertFalse(self.picture() == before)

    def test_the_parts_of_devices_are_listed(self):
        self.show(mesh='x=3', shape='12x4', sharding='x%2,-')
        rows = self.browser.text('#shards').split('\n')
        self.assertEqual(rows[1].split('\t'), ['0', '0', '4x4', '0:2 6:8, 0:4'])
        self.show(mesh='x=64', shape='64', sharding='x')
        self.assertEqual(len(self.browser.text('#shards').split('\n')), 65)
        self.show(mesh='x=65', shape='65', sharding='x')
        self.assertIn('65 devices', self.browser.text('#shards'))

    def test_many_devices_are_answered_at_once(self):
        self.show(mesh='data=16,model=32', shape='512x512', sharding='data,model', to='model,data')
        self.assertEqual(self.faults(), [])
        passed = 'const begin = performance.now(); update(); return performance.now() - begin'
        self.assertLess(min(self.browser.run(passed) for _ in range(3)), 500)

    def test_a_reshard_is_shown_step_by_step(self):
        self.show(**POD, sharding='data,-', to="P(None, 'model')")
        steps = self.browser.run(
            'return [...document.querySelectorAll("#reshard li")].map((one) => '
            '[one.innerText, one.querySelector(".picture").shadowRoot.innerHTML])')
        self.assertEqual(len(steps), 2)
        self.assertIn('slice over model', steps[0][0])
        self.assertIn('all_gather over data of dimension 0, each device receives 64 B', steps[1][0])
        titles = [re.search('<title>(.*?)</title>', image)[1] for _, image in steps]
        self.assertEqual(titles, ['f32[8@data, 16] -&gt; f32[8@data, 16@model]',
                                  'f32[8@data, 16@model] -&gt; f32[8, 16@model]'])
        self.assertIn('2 steps, each device receives 64 bytes', self.browser.text('#reshard'))
        self.browser.clear('#to')
        self.assertEqual(self.browser.text('#reshard'), '')

    def test_blocks_differ_without_colour(self):
        self.show(**POD, sharding='data,model')
        fills = self.browser.run(
            'return [...at("picture").shadowRoot.querySelectorAll("rect[fill]")]'
            '.map((one) => one.getAttribute("fill"))')
        self.assertEqual({fill for fill in fills if 'sw-' in fill},
                         {f'url(#sw-{name})' for name in ('dots', 'rows', 'columns', 'grid')})
