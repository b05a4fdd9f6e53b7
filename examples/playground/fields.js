// SPDX-License-Identifier: BSL-1.0
// The fields: their texts, which the fragment of the address keeps, and the marks of what is wrong.
'use strict';

const names = ['mesh', 'shape', 'sharding', 'to', 'ops', 'physical', 'ici', 'dcn', 'names',
  'algorithm'];
const at = (id) => document.getElementById(id);

/** Makes an element; strings among its children are text. */
function make(tag, attributes = {}, ...children) {
  const element = Object.assign(document.createElement(tag), attributes);
  element.append(...children);
  return element;
}

/** A button with words on it. */
const button = (words, onclick, more) => make('button', {type: 'button', onclick, ...more}, words);

/** Lays each field over a copy of its text, and adds the place of its messages. */
function dressFields(changed) {
  for (const name of names) {
    const input = at(name), field = make('span', {className: 'field'});
    const marks = make('span', {className: 'marks', id: `${name}-marks`, ariaHidden: 'true'});
    input.replaceWith(field);
    field.append(marks, input);
    field.parentElement.after(make('output', {className: 'fault', id: `${name}-fault`}));
    Object.assign(input, {spellcheck: false, autocapitalize: 'off', autocomplete: 'off'});
    input.setAttribute('aria-describedby', `${name}-fault`);
    input.addEventListener('input', changed);
    input.addEventListener('scroll', () => { marks.scrollLeft = input.scrollLeft; });
  }
}

/** A request without the members whose text is empty. */
const request = (members) => Object.fromEntries(Object.entries(members).filter(([, text]) => text));

/** The texts of all fields. */
const readFields = () => Object.fromEntries(names.map((name) => [name, at(name).value.trim()]));

/** Writes the texts of fields as a readable fragment of an address, also for links in Markdown. */
function toFragment(texts) {
  const escape = (text) => encodeURIComponent(text).replace(/%20/g, '+')
    .replace(/%(3D|2C|3A|40|3B|2F)/g, decodeURIComponent)
    .replace(/[()'*]/g, (letter) => `%${letter.charCodeAt(0).toString(16)}`);
  return names.filter((name) => texts[name])
    .map((name) => `${name}=${escape(texts[name])}`).join('&');
}

/** Reads the fragment of an address. */
const fromFragment = (text) => Object.fromEntries(new URLSearchParams(text.replace(/^#/, '')));

/** Removes the marks and messages of all fields. */
function clearFaults() {
  for (const name of names) {
    at(name).removeAttribute('aria-invalid');
    at(`${name}-marks`).replaceChildren();
    at(`${name}-fault`).replaceChildren();
  }
}

/** Marks places `[begin, end]`, in ascending order, in a field. */
function markPlaces(name, places) {
  const text = at(name).value, marks = at(`${name}-marks`);
  let done = 0;
  marks.replaceChildren();
  for (const [begin, end] of places) {
    marks.append(text.slice(done, begin), make('mark', {}, text.slice(begin, end) || ' '));
    done = end;
  }
  marks.append(text.slice(done));
  marks.scrollLeft = at(name).scrollLeft;
  at(name).ariaInvalid = 'true';
}

/** The begin and end of what a refusal names in a text; it counts bytes. */
function placeIn(text, {at: from = 0, length = Infinity}) {
  const bytes = new TextEncoder().encode(text);
  return [from, from + length].map((end) => new TextDecoder().decode(bytes.slice(0, end)).length);
}

/** The message of a refusal, with a button for each fix; `apply` receives what the fix changes. */
function faultOf(asked, refused, apply) {
  const words = (value) => [value].flat().join('; ');
  const fixes = (refused.fixes ?? []).map((fix) => {
    const changed = [...new Set([...Object.keys(fix), ...Object.keys(asked)])]
      .filter((key) => words(fix[key]) !== words(asked[key]));
    const label = changed.map((key) => fix[key] === undefined ?
      `no ${key === 'to' ? 'reshard' : key}` :
      key !== 'operands' ? `${key} = ${words(fix[key])}` :
      words(fix.operands.filter((type, i) => type !== asked.operands[i])));
    return button(make('code', {}, label.join(', ')), () =>
      apply(Object.fromEntries(changed.map((key) => [key, fix[key]]))));
  });
  const sentence = make('span', {title: refused.error}, refused.message);
  return [sentence, ...(fixes.length ? [make('div', {className: 'fixes'}, ...fixes)] : [])];
}
