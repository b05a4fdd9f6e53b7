// SPDX-License-Identifier: BSL-1.0
// What the module answers, as elements of the page.
'use strict';

const notationNames = {layout: 'Shardwise', jax: 'JAX', placements: 'DTensor', sdy: 'Shardy',
  hlo_v3: 'HLO, named', hlo_v2: 'HLO, iota', hlo: 'HLO, devices listed', cpp: 'C++',
  spec: 'Shardwise', type: 'type'};
const mostShards = 64;

const count = (number, noun) => `${number.toLocaleString('en')} ${noun}${number === 1 ? '' : 's'}`;
const code = (text) => make('code', {}, text);
const row = (tag, ...cells) => make('tr', {}, ...cells.map((cell) => make(tag, {}, cell)));

/** A picture in a tree of its own, since its style sheet would apply to the page. */
function showPicture(place, image) {
  const root = place.shadowRoot ?? place.attachShadow({mode: 'open'});
  root.innerHTML = image;
  const svg = root.firstElementChild;
  if (!svg) return place;
  // A wide picture shrinks while its text can be read, and then scrolls.
  const least = 0.55 * svg.getAttribute('width');
  svg.style = `display: block; max-width: 100%; height: auto; min-width: ${least}px`;
  return place;
}
const pictureOf = (image, className = 'picture') => showPicture(make('div', {className}), image);

/** Copies the text of an element, or selects it where that is not allowed. */
async function copy(element, {target}) {
  try {
    await navigator.clipboard.writeText(element.textContent);
    target.textContent = 'Copied';
    setTimeout(() => { target.textContent = 'Copy'; }, 1200);
  } catch {
    getSelection().selectAllChildren(element);
  }
}

/** The notations: to copy, or to `use` as the sharding. */
function showNotations(found, use) {
  const shown = Object.keys(notationNames).filter((key) => key in found && key !== 'type');
  at('notations').replaceChildren(...shown.map((key) => {
    const name = notationNames[key], head = make('th', {scope: 'row'}, name);
    const reason = make('td', {className: 'reason', colSpan: 2}, found.why_not?.[key] ?? '');
    if (found[key] === null) return make('tr', {}, head, reason);
    const text = make(key === 'cpp' ? 'pre' : 'code', {id: `text-${key}`}, found[key]);
    const buttons = [button('Copy', (event) => copy(text, event), {ariaLabel: `Copy ${name}`})];
    if (key !== 'cpp')
      buttons.push(' ', button('Use', () => use(found[key]), {ariaLabel: `Use ${name}`}));
    return make('tr', {}, head, make('td', {}, text), make('td', {}, ...buttons));
  }));
}

/** The index ranges of each device. */
function showShards(shards) {
  // A range is `[0, 4]`, or a list of ranges where there are gaps.
  const ranges = (index) => (Array.isArray(index[0]) ? index : [index])
    .map(([begin, end]) => `${begin}:${end}`).join(' ');
  at('shards').replaceChildren(!shards ? 'With a shape: the index ranges of each device.' :
    shards.length > mostShards ? `${shards.length} devices; at most ${mostShards} are listed.` :
    make('table', {}, row('th', 'device', 'replica', 'local shape', 'index'),
      ...shards.map((one) => row('td', one.device, one.replica,
        one.local_shape.join('x') || 'scalar', one.index.map(ranges).join(', ')))));
}

/** `all_gather over data, each device receives 64 bytes`. */
function collectiveText({kind, axes, bytes}) {
  return `${kind} over ${axes.join(', ')}, each device receives ${count(bytes, 'byte')}`;
}

/** The steps of a reshard, each with its picture. */
function showSteps({steps, bytes}) {
  const total = steps.length === 0 ? 'Nothing moves.' :
    `${count(steps.length, 'step')}, each device receives ${count(bytes, 'byte')}`;
  at('reshard').replaceChildren(make('h2', {}, 'Reshard'), make('p', {}, total),
    make('ol', {}, ...steps.map(({says, image}) =>
      make('li', {}, make('p', {}, says), pictureOf(image)))));
}

/** The mesh of a machine, which `use` takes. */
function showMachine({text, assignment}, use) {
  const axes = text.match(/\(([^)]*)\)/)[1].split(', ');
  const chips = (physical) => physical.map((axis) => 'xyz'[axis] ?? 'cores').join(', ') || 'none';
  at('machine').replaceChildren(make('h2', {}, 'Mesh of the machine'), make('p', {}, code(text)),
    make('p', {}, button('Use as the mesh', () => use(text), {id: 'use-machine'})),
    make('table', {}, row('th', 'axis', 'along these axes of a slice'),
      ...axes.map((axis, i) => row('td', axis, chips(assignment[i])))));
}
