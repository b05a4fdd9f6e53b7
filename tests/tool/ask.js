// SPDX-License-Identifier: BSL-1.0
// node ask.js FOLDER MODULE: the module of the playground as the shell tool with --batch. FOLDER has
// module.js.
'use strict';
const fs = require('fs');
const path = require('path');

async function main([folder, file]) {
  const {openModule} = require(path.resolve(folder, 'module.js'));
  // As many devices as in a shell, so that sentences name the same limits.
  const ask = await openModule(fs.readFileSync(file), 1 << 20);
  const lines = fs.readFileSync(0, 'utf8').split('\n');
  for (const line of lines) if (line.trim()) fs.writeSync(1, ask(line));
}

main(process.argv.slice(2)).catch(problem => {
  console.error(problem);
  process.exitCode = 1;
});
