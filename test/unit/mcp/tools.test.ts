// Names, schemas and results of MCP tools are bounded, whatever a server sends.
import { expect, test } from 'vitest';
import { type McpTool } from '../../../src/mcp/session/sessionPort.ts';
import { contentText, resultText } from '../../../src/mcp/tools/contentText.ts';
import { nameTool, prefixServers } from '../../../src/mcp/tools/toolNames.ts';
import { boundSchema, describeTool } from '../../../src/mcp/tools/toolSchema.ts';
import { mediaIn } from '../../../src/mcp/tools/followTask.ts';

const tool = (inputSchema: object, more: Partial<McpTool> = {}): McpTool => ({
  name: 't',
  inputSchema: inputSchema as Record<string, unknown>,
  mayBeTask: false,
  ...more,
});

test('names have at most 64 plain characters and are unique', () => {
  const prefixes = prefixServers(['a b', 'a.b', 'x'.repeat(100), '日本', '3d', '-x', '_3d']);
  expect([...prefixes.values()]).toEqual(['a_b', 'a_b_2', 'x'.repeat(30), '_', '_3d', '_-x', '_3d_2']);
  const taken = new Set<string>();
  const names = ['é'.repeat(5), 'ü', 'y'.repeat(100), `${'y'.repeat(99)}z`].map((one) => nameTool('p', one, taken));
  expect(new Set(names).size).toBe(4);
  expect(names.every((name) => /^[A-Za-z0-9_-]{1,64}$/.test(name))).toBe(true);
});

test('local references are replaced; schemas with remote ones, and schemas too deep or too large, become any object', () => {
  const local = { type: 'object', properties: { a: { $ref: '#/$defs/a' } }, $defs: { a: { type: 'string' } } };
  expect(boundSchema(tool({ ...local, $schema: 'https://json-schema.org/draft/2020-12/schema' }))).toEqual({
    type: 'object',
    properties: { a: { type: 'string' } },
  });
  const any = { type: 'object', additionalProperties: true };
  expect(boundSchema(tool({ type: 'object', properties: { a: { $ref: 'https://evil.example/x' } } }))).toEqual(any);
  let deep: object = {};
  for (let level = 0; level < 60; level++) deep = { properties: { a: deep } };
  expect(boundSchema(tool(deep))).toEqual(any);
  expect(boundSchema(tool({ description: 'x'.repeat(50_000) }))).toEqual(any);
  expect(describeTool(tool({}, { description: 'x'.repeat(50_000) })).length).toBeLessThan(5000);
});

test('content that is not text is described', () => {
  const blocks = [
    { type: 'text', text: 'a' },
    { type: 'image', data: 'AAAA', mimeType: 'image/png' },
    { type: 'audio', data: 'AAAA', mimeType: 'audio/wav' },
    { type: 'resource_link', uri: 'file:///x', name: 'x', size: 5 },
    { type: 'resource', resource: { uri: 'file:///y', text: 'inside' } },
    { type: 'resource', resource: { uri: 'file:///z', blob: 'AAAA', mimeType: 'application/zip' } },
    { type: 'hologram' },
    null,
  ];
  expect(contentText(blocks).split('\n')).toEqual([
    'a',
    '(an image, image/png, 3 bytes)',
    '(a recording, audio/wav, 3 bytes; you cannot be shown it)',
    '[x](file:///x) (5 bytes)',
    'Resource file:///y:',
    'inside',
    'Resource file:///z: (application/zip, 3 bytes; you cannot be shown it)',
    '(content of a kind that is not known)',
    '(content of a kind that is not known)',
  ]);
});

test('a structured result is shown unless a text has the same content', () => {
  const structured = { a: 1 };
  const text = (value: string) => [{ type: 'text', text: value }];
  expect(resultText({ blocks: text('{ "a": 1 }'), structured, isError: false })).toBe('{ "a": 1 }');
  expect(resultText({ blocks: text('one'), structured, isError: false })).toBe('one\nStructured result:\n{"a":1}');
  expect(resultText({ blocks: [], structured, isError: false })).toBe('Structured result:\n{"a":1}');
  expect(resultText({ blocks: text('one'), structured: { content: 'one' }, isError: false })).toBe('one');
});

test('images and sound of known kinds are shown on the card, limited in number and size; everything else is only described', () => {
  const data = Buffer.from('picture').toString('base64');
  const image = { type: 'image', data, mimeType: 'image/png' };
  const bytes = Buffer.from('picture');
  const sound = { type: 'resource', resource: { uri: 'tea://song', blob: data, mimeType: 'audio/ogg' } };
  expect(mediaIn([image, sound])).toEqual([
    { mediaType: 'image/png', bytes },
    { mediaType: 'audio/ogg', bytes },
  ]);
  expect(mediaIn(Array.from({ length: 100 }, () => image))).toHaveLength(8);
  const refused = [
    { ...image, mimeType: 'image/svg+xml' },
    { ...image, mimeType: 'text/html' },
    { ...image, data: '' },
    { ...image, data: 'x'.repeat(8_000_001) },
    { type: 'text', text: 'x' },
    null,
  ];
  expect(mediaIn(refused)).toEqual([]);
});
