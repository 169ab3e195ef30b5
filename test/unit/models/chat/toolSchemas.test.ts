// Schemas of tools in the flavours of Gemini and Moonshot: what they refuse is rewritten, and nothing else changes.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { inFlavour } from '../../../../src/models/chat/toolSchemas.ts';
import { VENDORS } from '../../../support/models/vendorRules.ts';

type Schema = Readonly<Record<string, unknown>>;

const faultOf = (flavour: 'gemini' | 'kimi', schema: Schema) => {
  const vendor = VENDORS.find(({ name }) => name === { gemini: 'Gemini 3', kimi: 'Kimi K3' }[flavour]);
  return vendor?.refuseSchema?.(schema);
};
const inside = (schema: Schema): Schema => ({ type: 'object', properties: { p: schema } });
const rewrite = (flavour: 'gemini' | 'kimi', schema: Schema) =>
  (inFlavour(inside(schema), flavour)['properties'] as Schema)['p'];

test.each<[string, Schema, Schema]>([
  ['numbers as values', { type: 'integer', enum: [1, 2] }, { type: 'integer', description: 'One of 1, 2.' }],
  ['texts as values', { type: 'string', enum: ['a', ''] }, { type: 'string', enum: ['a'] }],
  ['a constant', { const: 'a' }, { type: 'string', enum: ['a'] }],
  ['several types', { type: ['null', 'number'], minimum: 1 }, { type: 'number', minimum: 1 }],
  [
    'a union',
    { description: 'Which', oneOf: [{ type: 'string' }, { type: 'number' }], type: 'string' },
    { anyOf: [{ type: 'string', description: 'Which' }, { type: 'number' }] },
  ],
  ['a list without items', { type: 'array' }, { type: 'array', items: { type: 'string' } }],
  [
    'a closed object',
    { type: 'object', additionalProperties: false, properties: { a: {} }, required: ['a', 'b'] },
    { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
  ],
  ['properties of a text', { type: 'string', properties: { a: {} }, required: ['a'] }, { type: 'string' }],
  ['other keywords', { type: 'string', $schema: 'x', default: 1, format: 'uri' }, { type: 'string' }],
])('Gemini: %s', (_name, given, wanted) => {
  expect(faultOf('gemini', inside(given))).toBeDefined();
  expect(rewrite('gemini', given)).toEqual(wanted);
});

test.each<[string, Schema, Schema]>([
  [
    'a type beside a union',
    { type: 'object', anyOf: [{ properties: {} }, { type: 'string' }] },
    { anyOf: [{ properties: {}, type: 'object' }, { type: 'string' }] },
  ],
  ['a type beside oneOf', { type: 'number', oneOf: [{ minimum: 1 }] }, { anyOf: [{ minimum: 1, type: 'number' }] }],
  [
    'a schema for each place',
    { type: 'array', items: [{ type: 'number' }, { type: 'string' }] },
    { type: 'array', items: { type: 'number' } },
  ],
  ['prefixItems', { type: 'array', prefixItems: [{ type: 'number' }] }, { type: 'array', items: { type: 'number' } }],
  ['a reference', { type: 'string', $ref: '#/x', description: 'a' }, { type: 'string', description: 'a' }],
])('Moonshot: %s', (_name, given, wanted) => {
  expect(faultOf('kimi', inside(given))).toBeDefined();
  expect(rewrite('kimi', given)).toEqual(wanted);
});

test('Gemini: the arguments of a tool are one object', () => {
  const union = { oneOf: [{ properties: { a: { type: 'string' } }, required: ['a'] }, { properties: { b: {} } }] };
  expect(inFlavour(union, 'gemini')).toEqual({
    type: 'object',
    properties: { a: { type: 'string' }, b: { type: 'string' } },
  });
});

test('what both accept stays as it is, and a schema is rewritten once', () => {
  const plain = inside({ type: 'array', items: { type: 'string', enum: ['a'] }, minItems: 1, description: 'List' });
  for (const flavour of ['gemini', 'kimi'] as const) {
    expect(inFlavour(plain, flavour)).toEqual(plain);
    expect(inFlavour(plain, flavour)).toBe(inFlavour(plain, flavour));
  }
  expect(inFlavour(plain, undefined)).toBe(plain);
});

const nested = (depth: number): fc.Arbitrary<Schema> => {
  const inner = depth === 0 ? fc.constant<Schema>({}) : nested(depth - 1);
  return fc.record(
    {
      type: fc.constantFrom('string', 'object', 'array', 'integer', 'null', ['string', 'null'], 7),
      enum: fc.array(fc.jsonValue({ maxDepth: 1 }), { maxLength: 2 }),
      const: fc.jsonValue({ maxDepth: 1 }),
      properties: fc.oneof(fc.dictionary(fc.string(), inner, { maxKeys: 2 }), fc.constant('x')),
      required: fc.oneof(fc.array(fc.string()), fc.constant(true)),
      items: fc.oneof(inner, fc.array(inner, { maxLength: 2 }), fc.constant(true)),
      prefixItems: fc.array(inner, { maxLength: 1 }),
      anyOf: fc.array(inner, { maxLength: 2 }),
      oneOf: fc.array(inner, { maxLength: 2 }),
      $ref: fc.constant('#/a'),
      additionalProperties: fc.boolean(),
      minimum: fc.jsonValue({ maxDepth: 0 }),
      description: fc.oneof(fc.string(), fc.constant(1)),
    },
    { requiredKeys: [] },
  );
};

test.each(['gemini', 'kimi'] as const)('any schema is accepted after it: %s', (flavour) => {
  fc.assert(
    fc.property(nested(2), (schema) => {
      expect(faultOf(flavour, inFlavour({ ...schema, type: 'object' }, flavour))).toBeUndefined();
    }),
  );
});
