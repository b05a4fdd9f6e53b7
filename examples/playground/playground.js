// SPDX-License-Identifier: BSL-1.0
// From the texts of the fields to answers, at every keystroke.
'use strict';

let ask;  // a request -> its answer
let keeping;  // the timer of the address
let images = [];  // the last picture of each line of the operations

/** Changes some fields, and goes on in the one called `focus`. */
function change(texts, focus) {
  for (const name of names) if (name in texts) at(name).value = texts[name] ?? '';
  update();
  at(focus).focus();
}

/** Shows a refusal at the field that it names. */
function showFault(asked, refused, otherwise) {
  const name = names.includes(refused.option) ? refused.option : otherwise;
  const text = at(name).value, blanks = text.length - text.trimStart().length;
  const place = placeIn(text.trim(), refused).map((end) => end + blanks);
  markPlaces(name, name === refused.option ? [place] : []);
  at(`${name}-fault`).replaceChildren(...faultOf(asked, refused, (fix) => change(fix, name)));
}

function updateSharding({mesh, shape, sharding, to}) {
  at('notation').replaceChildren();
  at('answers').hidden = !sharding || !at('picture').shadowRoot;
  if (!sharding) return;
  const asked = request({cmd: 'inspect', mesh, shape, sharding}), found = ask(asked);
  at('answers').classList.toggle('stale', 'error' in found);
  at('caption').textContent = `Who holds what${found.error ? ' (the last valid input)' : ''}`;
  if (found.error) return showFault(asked, found, 'sharding');
  at('answers').hidden = false;
  at('notation').append(found.notation ? `Notation: ${notationNames[found.notation]}.` : '');
  for (const {notation, request: other} of found.could_be ?? [])
    at('notation').append(' It could also be ',
      button(notationNames[notation], () => change(other, 'sharding')));
  const own = {mesh: mesh || found.mesh || '', shape: shape || found.shape || ''};
  showNotations(found, (text) => change({...own, sharding: text}, 'sharding'));
  showShards(found.shards);
  const draw = {...asked, cmd: 'draw', svg: '-'}, drawn = ask(draw);
  if (drawn.error) at('caption').textContent = `No picture: ${drawn.message}`;
  showPicture(at('picture'), drawn.image ?? '');
  at('reshard').hidden = !to;
  if (!to) return;
  const moved = ask({...draw, to});
  at('reshard').classList.toggle('stale', 'error' in moved);
  if (moved.error) showFault({...draw, to}, moved, 'to');
  else showSteps(moved);
}

/** Answers the lines of the operations, of which each sees the results of those before it. */
function updateOperations({mesh, ops}) {
  const lines = at('ops').value.split('\n'), types = Object.create(null), unknown = new Set();
  const items = [], places = [], total = {steps: 0, bytes: 0, flops: 0};
  at('ops').rows = Math.max(2, lines.length);
  let begin = 0;
  for (const [number, line] of lines.entries()) {
    const read = readLine(line), start = begin;
    begin += line.length + 1;
    if (!line.trim()) continue;
    const missing = read.operands.find(({text}) => unknown.has(text));
    const asked = requestOf(read, mesh, types);
    const found = missing ? {error: 'none', message: `There is no ${missing.text}.`} : ask(asked);
    if (found.option === 'mesh') {
      at('results').className = 'stale';
      return showFault(asked, found, 'mesh');
    }
    if (found.error) {
      read.results.forEach((name) => unknown.add(name));
      if (!missing) places.push(placeInLine(line, read, found, types).map((end) => start + end));
      const mend = (fix) => {
        lines[number] = mendLine(read, {...asked, ...fix}, asked);
        change({mesh: fix.mesh ?? mesh, ops: lines.join('\n')}, 'ops');
      };
      const last = pictureOf(images[number] ?? '', 'picture stale');
      const message = make('div', {className: 'fault'}, ...faultOf(asked, found, mend));
      items.push(make('li', {}, message, last));
      continue;
    }
    const results = [found.result ?? read.op.text].flat();
    read.results.forEach((name, i) => { types[name] = results[i]; });
    total.steps += found.collectives?.length ?? 0;
    found.collectives?.forEach(({bytes}) => { total.bytes += bytes; });
    total.flops += found.flops ?? 0;
    images[number] = ask({cmd: 'draw', mesh, sharding: results[0], svg: '-'}).image ?? '';
    const use = (type) => change({sharding: type, shape: '', to: ''}, 'sharding');
    items.push(resultItem(read.results, results, found, images[number], use));
  }
  if (places.length > 0) markPlaces('ops', places);
  const sum = `${count(total.steps, 'collective')}, ${count(total.bytes, 'byte')} received ` +
    `and ${count(total.flops, 'flop')} per device`;
  at('results').hidden = !ops;
  at('results').className = '';
  at('results').replaceChildren(make('p', {id: 'total'}, sum), make('ol', {}, ...items));
}

function updateMachine({physical, ici, dcn, names: axes, algorithm}) {
  at('machine').hidden = !physical || !ici;
  if (at('machine').hidden) return;
  const asked = request({cmd: 'hybrid', physical, ici, dcn, names: axes, algorithm});
  const found = ask(asked);
  at('machine').classList.toggle('stale', 'error' in found);
  if (found.error) showFault(asked, found, 'ici');
  else showMachine(found, (text) => change({mesh: text}, 'mesh'));
}

function update() {
  const texts = readFields(), fragment = toFragment(texts);
  clearFaults();
  updateSharding(texts);
  updateOperations(texts);
  updateMachine(texts);
  for (const one of at('examples').children)
    one.ariaPressed = String(toFragment(examples[one.textContent]) === fragment);
  // Browsers allow a page some 200 changes of its address in 30 seconds.
  clearTimeout(keeping);
  keeping = setTimeout(() => history.replaceState(null, '', `#${fragment}`), 200);
}

/** Shows a state: the texts of fields, of which the others are empty. */
function show(state) {
  for (const name of names) at(name).value = state[name] ?? '';
  images = [];
  update();
}

/** Offers an example of each operation. */
function addCatalogue() {
  const all = ask({cmd: 'operations'});
  at('catalogue').append(...all.map(({name}) => make('option', {}, name)));
  at('catalogue').onchange = () => {
    const chosen = all[at('catalogue').selectedIndex - 1];
    if (!chosen) return;
    const {cmd, mesh, op, operands, ...parameters} = chosen.example;
    show({mesh, sharding: operands[0], ops: writeLine(['y'], op, parameters, operands)});
  };
}

async function start() {
  dressFields(update);
  if (typeof playgroundModule === 'undefined')
    throw Error('There is no module.wasm.js: ./run playground builds this page.');
  const module = Uint8Array.from(atob(playgroundModule), (letter) => letter.charCodeAt(0));
  const answer = await openModule(module);
  ask = (asked) => JSON.parse(answer(JSON.stringify(asked)));
  const given = () => location.hash.length > 1 ? fromFragment(location.hash) : examples.rows;
  for (const name in examples) at('examples').append(button(name, () => show(examples[name])));
  show(given());
  document.body.dataset.answered = performance.now().toFixed();
  window.addEventListener('hashchange', () => show(given()));
  addCatalogue();
}

start().catch(({message}) => { at('failure').textContent = message; });
