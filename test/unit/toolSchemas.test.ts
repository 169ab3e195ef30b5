// Tool schemas that every chat template renders: each property has a plain type.
import { describe, expect, test } from 'vitest';
import { createFindTools } from '../../src/mcp/tools/findTools.ts';
import { boundSchema } from '../../src/mcp/tools/toolSchema.ts';
import { shippedTools } from '../support/shippedTools.ts';

type Schema = Readonly<Record<string, unknown>>;

/** Paths of properties and items without a plain type. */
function untyped(schema: Schema, at = ''): string[] {
  const { properties = {}, items } = schema as { properties?: Record<string, Schema>; items?: Schema };
  const inner = [
    ...Object.entries(properties).map(([name, one]) => [`${at}.${name}`, one] as const),
    ...(items === undefined ? [] : [[`${at}[]`, items] as const]),
  ];
  return inner.flatMap(([path, one]) => [...(typeof one['type'] === 'string' ? [] : [path]), ...untyped(one, path)]);
}

test.each([...shippedTools.descriptions, createFindTools(() => []).description])(
  '$name: each property has a plain type',
  ({ parameters }) => {
    expect(untyped(parameters)).toEqual([]);
  },
);

describe('tools of MCP servers', () => {
  const adapted = (properties: Schema, more: Schema = {}) =>
    boundSchema({ name: 'x', inputSchema: { type: 'object', properties, ...more } } as never);

  test.each<[string, Schema, Schema]>([
    ['nullable', { type: ['string', 'null'] }, { type: 'string' }],
    ['nullable union', { anyOf: [{ type: 'null' }, { type: 'integer', minimum: 1 }] }, { type: 'integer', minimum: 1 }],
    ['enum', { enum: ['a', 'b'] }, { type: 'string', enum: ['a', 'b'] }],
    ['constant', { const: 3 }, { type: 'integer', const: 3 }],
    ['object', { properties: { y: {} } }, { type: 'object', properties: { y: { type: 'string' } } }],
    ['list', { items: { enum: [1.5] } }, { type: 'array', items: { enum: [1.5], type: 'number' } }],
    ['anything', { description: 'any' }, { description: 'any', type: 'string' }],
    ['reference', { $ref: '#/$defs/point' }, { type: 'object', properties: { x: { type: 'number' } } }],
    ['lost reference', { $ref: '#/$defs/none' }, { type: 'object' }],
  ])('%s', (_, given, wanted) => {
    const schema = adapted(
      { p: given },
      { $defs: { point: { type: 'object', properties: { x: { type: ['number', 'null'] } } } } },
    );
    expect((schema['properties'] as Schema)['p']).toEqual(wanted);
    expect(untyped(schema)).toEqual([]);
  });

  test('a union of several types keeps its alternatives', () => {
    const schema = adapted({ p: { oneOf: [{ type: 'number' }, { type: 'string' }] } });
    expect((schema['properties'] as Schema)['p']).toEqual({
      oneOf: [{ type: 'number' }, { type: 'string' }],
      type: 'number',
    });
  });

  test('a recursive schema ends, and one that grows by its references is replaced', () => {
    const node = { type: 'object', properties: { next: { $ref: '#/$defs/node' } } };
    expect(untyped(adapted({ p: { $ref: '#/$defs/node' } }, { $defs: { node } }))).toEqual([]);
    const bomb = Object.fromEntries(
      Array.from({ length: 12 }, (_, index) => [
        `d${index}`,
        { properties: { a: { $ref: `#/$defs/d${index + 1}` }, b: { $ref: `#/$defs/d${index + 1}` } } },
      ]),
    );
    const schema = adapted({ p: { $ref: '#/$defs/d0' } }, { $defs: bomb });
    expect(JSON.stringify(schema).length).toBeLessThan(20_000);
    expect(untyped(schema)).toEqual([]);
  });
});
