# SPDX-License-Identifier: BSL-1.0
"""How the page is read and used: at once, by keyboard, on any screen."""
from reader import POD, PageTest

# The least contrast of a text of the page with what is behind it, as in WCAG 2.
LEAST_CONTRAST = '''
const light = (color) => color.match(/[\\d.]+/g).slice(0, 3).map((one) => one / 255)
  .map((one) => one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4)
  .reduce((sum, one, i) => sum + one * [0.2126, 0.7152, 0.0722][i], 0);
const ground = (one) => {
  for (; one; one = one.parentElement) {
    const color = getComputedStyle(one).backgroundColor;
    if (!/, 0\\)|transparent/.test(color)) return light(color);
  }
  return 1;
};
let least = 21;
for (const one of document.querySelectorAll('body *')) {
  const words = [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
  if (!words || !one.checkVisibility() || one.closest('.marks, .stale, script')) continue;
  const [low, high] = [light(getComputedStyle(one).color), ground(one)].sort((a, b) => a - b);
  least = Math.min(least, (high + 0.05) / (low + 0.05));
}
return least;
'''
# How often Tab reaches each control that is shown, and its name.
CONTROLS = '''
return [...document.querySelectorAll('button, input, textarea, select')]
  .filter((one) => one.checkVisibility())
  .map((one) => [one.tabIndex, one.ariaLabel ?? one.labels?.[0]?.textContent ?? one.textContent])
'''


class Reading(PageTest):
    def test_answers_within_a_second_and_asks_no_server(self):
        # In milliseconds; the best of several, since a machine may do something else too.
        passed = []
        while len(passed) < 5 and min(passed, default=1000) >= 1000:
            self.browser.open(self.page)
            passed.append(int(self.browser.run('return document.body.dataset.answered')))
        self.assertLess(min(passed), 1000)
        self.assertEqual(self.title(), 'f32[8@data, 16]')
        asked = self.browser.run('return performance.getEntriesByType("resource")'
                                 '.map((one) => one.name)')
        folder = self.page.rsplit('/', 1)[0]
        self.assertEqual([name for name in asked if not name.startswith(folder)], [])

    def test_the_keyboard_suffices(self):
        self.show(**POD, sharding='data,-')
        self.browser.run('at("shape").focus()')
        self.browser.press('Tab', 'End', 'Backspace', *'mdl')
        self.assertEqual((self.value('sharding'), self.faults()), ('data,mdl', ['sharding']))
        self.browser.press('Tab')
        self.assertEqual(self.browser.run('const one = document.activeElement; return [one.tagName,'
                                          'getComputedStyle(one).outlineStyle]'),
                         ['BUTTON', 'solid'])
        self.browser.press('Enter')
        self.assertEqual(self.faults(), [])
        self.assertEqual(self.browser.run('return document.activeElement.id'), 'sharding')
        controls = self.browser.run(CONTROLS)
        self.assertGreater(len(controls), 30)
        self.assertEqual([one for one in controls if one[0] != 0 or not one[1].strip()], [])

    def test_narrow_and_wide_light_and_dark(self):
        grounds = set()
        mistake = {'sharding': 'data,modle', 'ops': 'p = softmax dim=1 f32[8@data, 16@model]'}
        reshard = {'sharding': 'data,-', 'to': '-,model'}
        for width, telephone in ((320, True), (390, True), (1280, False)):
            for scheme in ('light', 'dark'):
                self.browser.shape(width, 900, telephone)
                self.browser.prefer(scheme)
                for texts in (mistake, reshard):
                    with self.subTest(width=width, scheme=scheme, texts=texts):
                        self.show(**POD, **texts)
                        shown = self.browser.run('return document.documentElement.scrollWidth')
                        self.assertEqual(shown, width)
                        self.assertGreater(self.browser.run(LEAST_CONTRAST), 4.5)
                # The picture has the colours that the page has.
                ground = self.browser.run('return getComputedStyle(at("picture").shadowRoot'
                                          '.querySelector(".ground")).fill')
                self.assertEqual(ground, self.browser.run(
                    'return getComputedStyle(document.body).backgroundColor'))
                grounds.add(ground)
        self.assertEqual(len(grounds), 2)
        self.browser.shape(1280, 900)
        self.browser.prefer('light')

    def test_the_page_without_its_module_says_what_to_do(self):
        source = (self.root / 'examples/playground/index.html').as_uri()
        self.browser.call('POST', '/url', {'url': source})
        self.browser.wait('return document.querySelector("#failure")?.textContent', 'message')
        self.assertIn('./run playground', self.browser.text('#failure'))
        self.browser.complaints()  # that the file does not exist

    def test_the_page_is_small(self):
        files = [file for file in sorted((self.root / 'examples/playground').iterdir())
                 if file.suffix in ('.html', '.css', '.js')]
        lines = [(file.name, line) for file in files for line in file.read_text().splitlines()]
        self.assertLess(len(lines), 600)
        self.assertEqual([line for line in lines if len(line[1]) > 100], [])
