# SPDX-License-Identifier: BSL-1.0
"""A headless Chromium, driven by the distribution's chromedriver over WebDriver."""
import base64
import json
import os
import re
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

ELEMENT = 'element-6066-11e4-a52e-4f735466cecf'
KEYS = {'Tab': '\ue004', 'Enter': '\ue007', 'End': '\ue010', 'Control': '\ue009',
        'Backspace': '\ue003'}


def missing():
    """The name of a program that is needed and is not installed, or None."""
    for name in ('chromedriver', 'chromium'):
        if shutil.which(name) is None:
            return name
    return None


class Browser:
    """A window; `width` and `height` are those of the page in CSS pixels."""

    def __init__(self, width=1280, height=900):
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.driver = subprocess.Popen(['chromedriver', '--port=0'], stdout=subprocess.PIPE,
                                       stderr=subprocess.DEVNULL, text=True)
        for line in self.driver.stdout:
            if found := re.search(r'started successfully on port (\d+)', line):
                self.address = f'http://127.0.0.1:{found[1]}'
                break
        else:
            raise RuntimeError('chromedriver did not start')
        flags = ['--headless=new', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run',
                 '--disable-background-networking', '--disable-component-update',
                 '--hide-scrollbars', '--force-color-profile=srgb',
                 f'--user-data-dir={self.profile.name}']
        if os.geteuid() == 0:
            flags.append('--no-sandbox')
        capabilities = {'alwaysMatch': {
            'goog:chromeOptions': {'args': flags, 'binary': shutil.which('chromium')},
            'goog:loggingPrefs': {'browser': 'ALL'}}}
        self.session = ''
        self.session = '/session/' + self.call('POST', '/session',
                                               {'capabilities': capabilities})['sessionId']
        self.shape(width, height)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.call('DELETE', '')
        finally:
            self.driver.terminate()
            self.driver.wait()
            self.profile.cleanup()

    def call(self, method, path, body=None):
        """Sends a command of WebDriver and returns its value."""
        data = None if method != 'POST' else json.dumps(body or {}).encode()
        asked = urllib.request.Request(self.address + self.session + path, data, method=method,
                                       headers={'Content-Type': 'application/json'})
        try:
            with urllib.request.urlopen(asked, timeout=60) as answer:
                return json.load(answer)['value']
        except urllib.error.HTTPError as failure:
            raise RuntimeError(json.load(failure)['value']['message'].split('\n')[0]) from None

    def devtools(self, command, **parameters):
        return self.call('POST', '/goog/cdp/execute', {'cmd': command, 'params': parameters})

    def shape(self, width, height, telephone=False):
        self.devtools('Emulation.setDeviceMetricsOverride', width=width, height=height,
                      deviceScaleFactor=2 if telephone else 1, mobile=telephone)

    def prefer(self, scheme):
        """`light` or `dark`."""
        self.devtools('Emulation.setEmulatedMedia',
                      features=[{'name': 'prefers-color-scheme', 'value': scheme}])

    def open(self, address):
        # Another fragment alone would not load the page again.
        self.call('POST', '/url', {'url': 'about:blank'})
        self.call('POST', '/url', {'url': address})
        self.wait('return document.body?.dataset.answered !== undefined', 'a first answer')

    def run(self, script, *arguments):
        return self.call('POST', '/execute/sync', {'script': script, 'args': list(arguments)})

    def wait(self, script, what, seconds=20):
        end = time.monotonic() + seconds
        while not self.run(script):
            if time.monotonic() > end:
                raise AssertionError(f'there is no {what} after {seconds} s')
            time.sleep(0.02)

    def find(self, selector):
        return self.call('POST', '/element', {'using': 'css selector', 'value': selector})[ELEMENT]

    def click(self, selector):
        self.call('POST', f'/element/{self.find(selector)}/click')

    def type(self, selector, text):
        """Types after the text of a field, key by key."""
        self.call('POST', f'/element/{self.find(selector)}/value', {'text': text})

    def clear(self, selector):
        self.type(selector, KEYS['Control'] + 'a' + KEYS['Control'] + KEYS['Backspace'])

    def press(self, *keys):
        """Presses keys one after the other, wherever the focus is."""
        actions = []
        for key in keys:
            value = KEYS.get(key, key)
            actions += [{'type': 'keyDown', 'value': value}, {'type': 'keyUp', 'value': value}]
        keyboard = {'type': 'key', 'id': 'keys', 'actions': actions}
        self.call('POST', '/actions', {'actions': [keyboard]})

    def text(self, selector):
        """The text of an element as it is shown."""
        return self.run('const one = document.querySelector(arguments[0]);'
                        'return one?.checkVisibility() ? one.innerText : ""', selector)

    def complaints(self):
        """Warnings and errors of the console since the last call."""
        return [entry['message'] for entry in self.call('POST', '/se/log', {'type': 'browser'})
                if entry['level'] in ('WARNING', 'SEVERE')]

    def picture(self, file, whole=True):
        """Writes what is shown, or the whole page, as PNG."""
        shot = {'captureBeyondViewport': whole, 'format': 'png'}
        if whole:
            size = self.devtools('Page.getLayoutMetrics')['cssContentSize']
            shot['clip'] = {**size, 'scale': 1}
        with open(file, 'wb') as out:
            out.write(base64.b64decode(self.devtools('Page.captureScreenshot', **shot)['data']))
