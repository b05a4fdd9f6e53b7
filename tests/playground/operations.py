# SPDX-License-Identifier: BSL-1.0
"""Operations, one a line, and machines."""
from reader import POD, PageTest


class Operations(PageTest):
    def test_operations_use_the_results_of_earlier_lines(self):
        self.show(mesh=POD['mesh'], ops='h = einsum equation=bi,io->bo f32[8@data, 32@model] '
                                        'f32[32@model, 16]\ny = relu h across=model')
        results = self.browser.text('#results')
        self.assertIn('f32[8@data, 16]{partial sum: model}', results)
        self.assertIn('each device along model holds one term', results)
        self.assertIn('all_reduce over model', results)
        self.assertRegex(results, r'1 collective, \d+ bytes received and [\d,]+ flops per device')
        self.press('#results li:last-child button', 'Use')
        self.assertEqual(self.title(), 'f32[8@data, 16]')

    def test_a_broken_rule_of_an_operation_is_mended(self):
        line = 'x = f32[8@data, 16@model]\np = softmax dim=1 x'
        self.show(mesh=POD['mesh'], ops=line)
        self.assertIn('a dimension needed whole is not split', self.browser.text('#results'))
        self.assertEqual(self.marked('ops'), ['x'])
        self.press('#results .fixes button', 'across = model')
        self.assertEqual(self.value('ops').split('\n')[1], 'p = softmax dim=1 across=model x')
        self.assertEqual(self.faults(), [])
        self.show(mesh=POD['mesh'], ops=line)
        self.press('#results .fixes button', 'f32[8@data, 16]')
        self.assertEqual(self.value('ops').split('\n')[1], 'p = softmax dim=1 f32[8@data, 16]')
        self.assertEqual(self.faults(), [])
        self.show(mesh=POD['mesh'], ops='y = nonsense f32[8]\nz = relu y')
        self.assertEqual(self.marked('ops'), ['nonsense'])
        self.assertIn('There is no y.', self.browser.text('#results'))
        # A mesh that is wrong is no mistake of the operations.
        self.show(mesh='data=2', ops='y = relu f32[8@data]')
        self.browser.type('#mesh', ',')
        self.assertEqual(self.faults(), ['mesh'])
        self.assertIn('f32[8@data]', self.browser.text('#results'))

    def test_the_example_of_every_operation_holds(self):
        self.browser.open(self.page)
        names = self.browser.run('return [...at("catalogue").options].map((one) => one.text)')[1:]
        self.assertGreater(len(names), 200)
        wrong = self.browser.run(
            'return ask({cmd: "operations"}).map(({example}) => ask(example))'
            '.filter(({error}) => error)')
        self.assertEqual(wrong, [])
        for name in ('einsum', 'softmax', 'top_k', 'all_gather'):
            with self.subTest(operation=name):
                self.browser.run('at("catalogue").value = arguments[0];'
                                 'at("catalogue").dispatchEvent(new Event("change"))', name)
                self.assertIn(f'y = {name}', self.value('ops'))
                self.assertEqual(self.faults(), [])

    def test_a_machine_gives_a_mesh(self):
        self.show(physical='2x2x2', ici='4x2', dcn='2x1', names='data,model', shape='8x16',
                  sharding='data,model', mesh='data=8,model=2')
        self.assertIn('mesh(data=8, model=2)', self.browser.text('#machine'))
        self.browser.click('#use-machine')
        self.assertEqual(self.browser.text('#machine code'), self.value('mesh'))
        self.assertEqual(self.faults(), [])
        self.browser.type('#ici', 'x3')
        self.assertEqual(len(self.faults()), 1)
