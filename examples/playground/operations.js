// SPDX-License-Identifier: BSL-1.0
// Operations, one a line: `h = einsum equation=bi,io->bo x f32[16, 64@model]`. A line that is only
// a type, `x = f32[8@data, 16]`, gives it a name.
'use strict';

/** The words of a line with their places: blanks in brackets separate none. */
const wordsOf = (line) => [...line.matchAll(/(?:\[[^\]]*\]?|\{[^}]*\}?|\S)+/g)]
  .map(({0: text, index}) => ({text, at: index}));

/** A line as names of results, an operation, parameters and operands, all of them words. */
function readLine(line) {
  const words = wordsOf(line);
  const results = words[1]?.text === '=' ? words.splice(0, 2)[0].text.split(',') : [];
  const [op, ...rest] = words, parameters = {}, operands = [];
  for (const word of rest) {
    const name = word.text.match(/^[a-z_]+(?==)/)?.[0];
    const skipped = name ? name.length + 1 : 0;
    if (name) parameters[name] = {text: word.text.slice(skipped), at: word.at + skipped};
    else operands.push(word);
  }
  return {results, op: op ?? {text: '', at: line.length}, parameters, operands};
}

/** The request of a line, where `types` has those of earlier results. */
function requestOf({op, parameters, operands}, mesh, types) {
  if (op.text.includes('[')) return request({cmd: 'inspect', mesh, sharding: op.text});
  const given = Object.entries(parameters).map(([name, {text}]) => [name, text]);
  return {...request({cmd: 'infer', mesh, op: op.text}), ...Object.fromEntries(given),
    operands: operands.map(({text}) => types[text] ?? text)};
}

/** A line of these words. */
function writeLine(results, op, parameters, operands) {
  const given = Object.entries(parameters).map(([name, value]) => `${name}=${value}`);
  return [...(results.length > 0 ? [results, '='] : []), op, ...given, ...operands].join(' ');
}

/** A line that asks for something else, where operands that stay keep their names. */
function mendLine({results, operands: words}, wanted, asked) {
  const {cmd, mesh, op, operands = [], sharding, ...parameters} = wanted;
  for (const name in parameters) if (parameters[name] === undefined) delete parameters[name];
  return writeLine(results, op ?? sharding, parameters, operands.map((type, i) =>
    type === asked.operands[i] ? words[i].text : type));
}

/** The place in a line of what a refusal names. */
function placeInLine(line, {op, parameters, operands}, refused, types) {
  const word = refused.option === 'operands' ? operands[refused.operand] :
    ['op', 'sharding'].includes(refused.option) ? op : parameters[refused.option];
  if (!word) return [0, line.length];
  const [begin, end] = word.text in types ? [0, word.text.length] : placeIn(word.text, refused);
  return [word.at + begin, word.at + end];
}

/** The answer to a line, with the picture of its first result; `use` takes a result. */
function resultItem(results, types, {collectives = [], pending = [], flops}, image, use) {
  const facts = collectives.map(collectiveText), axes = [...new Set(pending.flat())];
  if (axes.length > 0) facts.push(`each device along ${axes.join(', ')} holds one term`);
  if (flops > 0) facts.push(`${count(flops, 'flop')} per device`);
  const line = (type, i) => make('p', {}, make('b', {}, results[i] ?? ''), ' ', code(type), ' ',
    button('Use', () => use(type), {ariaLabel: `Use ${type} as the sharding`}));
  return make('li', {}, ...types.map(line), ...facts.map((fact) => make('p', {}, fact)),
    pictureOf(image));
}
