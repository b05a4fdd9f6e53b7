// SPDX-License-Identifier: BSL-1.0
// node notations.js TOOL FOLDER MODULE TABLE BATCHES PROGRAMS
//
// For each row of the table, every notation that `inspect` writes is read back by --sharding and
// drawn as the same image, byte for byte, natively and in the module. What requests of the batch
// tables are answered with is read back too, and says of each device the same. What is proposed
// instead of a refused request is answered. PROGRAMS is written: the shardings as C++.
'use strict';
const assert = require('assert');
const fs = require('fs');
const path = require('path');
const {spawnSync} = require('child_process');

const forms = ['layout', 'hlo', 'hlo_v2', 'hlo_v3', 'sdy', 'placements', 'jax'];
const [tool, folder, file, table, batches, programs] = process.argv.slice(2);

// The answers of the shell tool.
function askTool(requests) {
  const input = requests.map(one => JSON.stringify(one) + '\n').join('');
  const ended = spawnSync(tool, ['--batch'], {input, encoding: 'utf8', maxBuffer: 1 << 28});
  assert.strictEqual(ended.status, 0, ended.stderr);
  return ended.stdout.split('\n').slice(0, -1);
}

// The answers of both, which are the same.
function askBoth(ask, requests) {
  const native = askTool(requests);
  requests.forEach((one, i) =>
    assert.strictEqual(ask(JSON.stringify(one)), native[i] + '\n', JSON.stringify(one)));
  return native.map(line => JSON.parse(line));
}

function readRows() {
  return fs.readFileSync(table, 'utf8').split('\n').filter(row => row && row[0] !== '#').map(row => {
    const [mesh, shape, spec] = row.split(/\s+/);
    return {mesh, spec, ...(shape !== '-' && {shape})};
  });
}

function checkNotations(ask) {
  const written = [];
  let count = 0;
  for (const row of readRows()) {
    const [said, drawn] = askBoth(ask, [{cmd: 'inspect', ...row}, {cmd: 'draw', svg: '-', ...row}]);
    assert(drawn.image.startsWith('<svg'), JSON.stringify(row));
    written.push(said.cpp);
    const {spec, ...rest} = row;
    const texts = [spec, ...forms.map(form => said[form])];
    texts.forEach((text, i) =>
      assert.strictEqual(typeof text, 'string', `${JSON.stringify(row)} has no ${forms[i - 1]}`));
    const images = askBoth(ask, texts.map(sharding => ({cmd: 'draw', svg: '-', ...rest, sharding})));
    images.forEach(({image}, i) =>
      assert.strictEqual(image, drawn.image, `${JSON.stringify(rest)}: ${texts[i]}`));
    count += images.length;
  }
  return {written, count};
}

// The requests for an inspected sharding in each notation that has words for it, on the mesh and for
// the shape that the answer names.
function requestsOf(answer) {
  const {mesh, shape} = answer;
  return forms.filter(form => answer[form]).map(form =>
    ({cmd: 'inspect', ...(mesh && {mesh}), ...(shape !== null && {shape}), sharding: answer[form]}));
}

// What an inspected sharding says is read back, and then says of each device the same.
function checkReading(ask, answer) {
  const again = askBoth(ask, requestsOf(answer));
  for (const {error, notation, shards} of again) {
    assert.strictEqual(error, undefined, `${notation}: ${JSON.stringify(answer).slice(0, 300)}`);
    if (answer.shards && shards)
      assert.deepStrictEqual(shards.map(one => one.index), answer.shards.map(one => one.index));
  }
}

function checkBatches(ask) {
  const written = [];
  let count = 0;
  for (const name of fs.readdirSync(batches)) {
    if (name === 'files.txt') continue;  // they are where there are files
    const lines = fs.readFileSync(path.join(batches, name), 'utf8').split('\n');
    const asked = lines.filter(line => line && !' #'.includes(line[0]));
    const answers = asked.map(line => JSON.parse(ask(line)));
    written.push(...answers.map(answer => answer.cpp).filter(program => program));
    for (const answer of answers) if (answer.why_not) checkReading(ask, answer);
    const fixes = answers.flatMap(answer => answer.fixes ?? []);
    if (fixes.length === 0) continue;
    askBoth(ask, fixes).forEach((answer, i) =>
      assert.strictEqual(answer.error, undefined, JSON.stringify(fixes[i])));
    count += fixes.length;
  }
  return {written, count};
}

// Each program in a namespace of its own, behind the header that all of them include.
function joinPrograms(written) {
  const [include] = written[0].split('\n');
  const bodies = written.map((program, i) =>
    `namespace row_${i} {${program.split('\n').slice(1).join('\n')}}\n`);
  return `${include}\n${bodies.join('')}`;
}

async function main() {
  const {openModule} = require(path.resolve(folder, 'module.js'));
  const ask = await openModule(fs.readFileSync(file), 1 << 20);
  const rows = checkNotations(ask);
  const tables = checkBatches(ask);
  assert(rows.count > 0 && tables.count > 0);
  const all = [...new Set([...rows.written, ...tables.written])];
  fs.writeFileSync(programs, joinPrograms(all));
  console.log(`${rows.count} images, ${tables.count} fixes, ${all.length} programs`);
}

main().catch(problem => {
  console.error(problem.message);
  process.exitCode = 1;
});
