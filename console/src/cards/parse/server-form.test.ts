import { expect, it } from 'vitest';
import { isFilledIn, serverFormOf, valuesOf } from './server-form.js';

const FIELDS = [
  { name: 'city', label: 'City', description: '', kind: 'text', required: true, options: [] },
  {
    name: 'nights',
    label: 'Nights',
    description: '',
    kind: 'integer',
    required: false,
    options: [],
    initial: 2,
  },
  { name: 'sure', label: 'Sure', description: '', kind: 'boolean', required: false, options: [] },
  {
    name: 'tags',
    label: 'Tags',
    description: '',
    kind: 'choices',
    required: false,
    options: [{ value: 'a' }],
  },
  { name: 'odd', kind: 'of another version' },
];

it('a form is read as far as it is known, and filled in as the server wants it', () => {
  const form = serverFormOf({ form: { server: 'shop', fields: FIELDS } });
  expect(form?.fields.map(({ name }) => name)).toEqual(['city', 'nights', 'sure', 'tags']);
  if (form === undefined) return;
  expect(isFilledIn(form, ({ initial }) => initial)).toBe(false);
  expect(valuesOf(form, ({ name, initial }) => (name === 'city' ? 'Rome' : initial))).toEqual({
    city: 'Rome',
    nights: 2,
    sure: false,
  });
  expect(serverFormOf({ title: 'another card' })).toBeUndefined();
});
