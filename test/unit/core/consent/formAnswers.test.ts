// The answer to a form: defaults, every kind of field and its bounds.
import { expect, test } from 'vitest';
import { readFormAnswer } from '../../../../src/core/consent/formAnswers.ts';
import { type FormField } from '../../../../src/protocol/page/form.ts';

const field = (more: Partial<FormField>): FormField => ({
  name: 'x',
  label: 'X',
  type: 'text',
  required: true,
  ...more,
});
const options = [
  { value: 'a', label: 'A' },
  { value: 'b', label: 'B' },
];

const fits: readonly [Partial<FormField>, unknown][] = [
  [{}, 'tea'],
  [{ least: 3, most: 3 }, 'te😀'],
  [{ format: 'email' }, 'ada@example.com'],
  [{ format: 'uri' }, 'https://example.com/x'],
  [{ format: 'date' }, '2026-07-28'],
  [{ format: 'date-time' }, '2026-07-28T12:00:00Z'],
  [{ type: 'number', least: 0.5 }, 0.5],
  [{ type: 'integer', most: 3 }, -2],
  [{ type: 'boolean' }, false],
  [{ type: 'choice', options }, 'b'],
  [{ type: 'choices', options, least: 1, most: 2 }, ['a', 'b']],
];
test.each(fits)('the field %j accepts %j', (more, value) => {
  expect(readFormAnswer([field(more)], JSON.stringify({ x: value }))).toEqual({ type: 'values', values: { x: value } });
});

const unfit: readonly [Partial<FormField>, unknown, string][] = [
  [{}, null, '“X” is required.'],
  [{}, '', '“X” is required.'],
  [{}, 3, '“X” must be a text.'],
  [{ least: 4 }, 'tea', '“X” is too short: its least length is 4.'],
  [{ most: 2 }, 'tea', '“X” is too long: its greatest length is 2.'],
  [{ format: 'email' }, 'ada', '“X” must be an email address.'],
  [{ format: 'uri' }, 'example', '“X” must be an address such as https://example.com.'],
  [{ format: 'date' }, '2026-13-40', '“X” must be a date such as 2026-07-28.'],
  [{ format: 'date-time' }, 'noon', '“X” must be a date and a time such as 2026-07-28T12:00:00Z.'],
  [{ type: 'number' }, '3', '“X” must be a number.'],
  [{ type: 'integer' }, 1.5, '“X” must be a whole number.'],
  [{ type: 'integer', most: 3 }, 4, '“X” must be at most 3.'],
  [{ type: 'number', least: 3 }, 2.5, '“X” must be at least 3.'],
  [{ type: 'boolean' }, 'yes', '“X” must be yes or no.'],
  [{ type: 'choice', options }, 'c', 'Choose “X” from the list.'],
  [{ type: 'choices', options }, 'a', 'Choose “X” from the list.'],
  [{ type: 'choices', options, least: 2 }, ['a', 'a'], 'Choose at least 2 of “X”.'],
  [{ type: 'choices', options, most: 1 }, ['a', 'b'], 'Choose at most 1 of “X”.'],
];
test.each(unfit)('the field %j does not accept %j', (more, value, problem) => {
  expect(readFormAnswer([field(more)], JSON.stringify({ x: value }))).toEqual({ type: 'unusable', problem });
});

test('a field without a value has its default; null leaves an optional field out', () => {
  const fields = [field({ default: 'tea' }), field({ name: 'y', required: false, type: 'integer', default: 3 })];
  expect(readFormAnswer(fields, '{}')).toEqual({ type: 'values', values: { x: 'tea', y: 3 } });
  expect(readFormAnswer(fields, '{"y":null,"z":1}')).toEqual({ type: 'values', values: { x: 'tea' } });
});

test('a form can be declined or cancelled; an answer that is not an object is refused', () => {
  expect(readFormAnswer([field({})], '')).toEqual({ type: 'declined' });
  expect(readFormAnswer([field({})], 'cancel')).toEqual({ type: 'cancelled' });
  for (const text of ['tea', '[]', 'null', '{'])
    expect(readFormAnswer([field({})], text)).toMatchObject({ type: 'unusable' });
});
