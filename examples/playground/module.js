// SPDX-License-Identifier: BSL-1.0
// The answers of the shell tool, in a page and in node.
'use strict';

// A promise of ask(line), which answers one line of JSON by one line. bytes: the module; most: how
// many devices answers list at most.
async function openModule(bytes, most = 1 << 14) {
  // The module has no files and no output: what the C library imports for them is refused.
  const noSuchCall = 52;
  const wasi = new Proxy({}, {get: () => () => noSuchCall});
  const {instance} = await WebAssembly.instantiate(bytes, {wasi_snapshot_preview1: wasi});
  const {memory, _initialize, limit, alloc, answer, answer_size: answerSize} = instance.exports;
  _initialize();
  limit(most);
  return line => {
    const asked = new TextEncoder().encode(line);
    const place = alloc(asked.length);
    new Uint8Array(memory.buffer, place, asked.length).set(asked);
    const begin = answer(place, asked.length);
    return new TextDecoder().decode(new Uint8Array(memory.buffer, begin, answerSize()));
  };
}

if (typeof module !== 'undefined') module.exports = {openModule};
