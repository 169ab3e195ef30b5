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
  [{}, null, 'X is required.'],
  [{}, '', 'X is required.'],
  [{}, 3, 'X: a text is wanted.'],
  [{ least: 4 }, 'tea', 'X: at least 4 characters must be given.'],
  [{ most: 2 }, 'tea', 'X: at most 2 characters may be given.'],
  [{ format: 'email' }, 'ada', 'X: an email address is wanted.'],
  [{ format: 'uri' }, 'example', 'X: an address such as https://example.com is wanted.'],
  [{ format: 'date' }, '2026-13-40', 'X: a date such as 2026-07-28 is wanted.'],
  [{ format: 'date-time' }, 'noon', 'X: a date and a time such as 2026-07-28T12:00:00Z are wanted.'],
  [{ type: 'number' }, '3', 'X: a number is wanted.'],
  [{ type: 'integer' }, 1.5, 'X: a whole number is wanted.'],
  [{ type: 'integer', most: 3 }, 4, 'X: at most 3 may be given.'],
  [{ type: 'boolean' }, 'yes', 'X: yes or no is wanted.'],
  [{ type: 'choice', options }, 'c', 'X: choose from the list.'],
  [{ type: 'choices', options }, 'a', 'X: choose from the list.'],
  [{ type: 'choices', options, least: 2 }, ['a', 'a'], 'X: at least 2 choices must be given.'],
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
