// The Guide: what it understands, what it calls, and how it reports what it was told.
import { expect, test } from 'vitest';
import { type ModelMessage } from '../../../src/core/conversation/messages.ts';
import { type ModelPart } from '../../../src/core/ports.ts';
import { createGuideModel } from '../../../src/models/guide.ts';
import { parseRequest } from '../../../src/models/guideRequest.ts';

const guide = createGuideModel({ wordMilliseconds: 0 });

async function answer(...messages: ModelMessage[]): Promise<{ text: string; parts: ModelPart[] }> {
  const parts: ModelPart[] = [];
  for await (const part of guide.stream({ system: '', messages, tools: [] }, new AbortController().signal))
    parts.push(part);
  return { text: parts.map((part) => (part.type === 'text' ? part.text : '')).join(''), parts };
}

test.each([
  ['read src/a.ts', [['read_file', { path: 'src/a.ts' }]]],
  ['Please read the file "a b.ts".', [['read_file', { path: 'a b.ts' }]]],
  ['show README.md.', [['read_file', { path: 'README.md' }]]],
  ['list the files', [['list_files', {}]]],
  ['list files in src', [['list_files', { path: 'src' }]]],
  ['run npm test', [['run_command', { command: 'npm test' }]]],
  ['run echo a; echo b', [['run_command', { command: 'echo a; echo b' }]]],
  [
    'read a.ts then run npm test',
    [
      ['read_file', { path: 'a.ts' }],
      ['run_command', { command: 'npm test' }],
    ],
  ],
  ['make me a sandwich', []],
  ['read a.ts then dance', []],
])('%s', (text, steps) => {
  expect(parseRequest(text).map((step) => [step.tool, step.arguments])).toEqual(steps);
});

test('what it does not understand gets an honest introduction, and no call', async () => {
  const { text, parts } = await answer({ role: 'user', content: 'make me a sandwich' });
  expect(text).toContain('no AI');
  expect(parts.filter((part) => part.type === 'tool_call')).toEqual([]);
  expect(parts.at(-1)).toEqual({ type: 'finished' });
});

test('steps are taken one after the other, with calls that differ in their ids', async () => {
  const request = { role: 'user', content: 'read a.ts then run npm test' } as const;
  const first = await answer(request);
  const call = first.parts.find((part) => part.type === 'tool_call');
  expect(call).toMatchObject({ name: 'read_file', arguments: '{"path":"a.ts"}' });
  const second = await answer(
    request,
    { role: 'assistant', content: '', calls: [{ id: call?.id ?? '', name: 'read_file', arguments: '{}' }] },
    { role: 'tool', call: call?.id ?? '', content: 'text' },
  );
  const next = second.parts.find((part) => part.type === 'tool_call');
  expect(next).toMatchObject({ name: 'run_command' });
  expect(next?.id).not.toBe(call?.id);
});

test('it reports what rode the result, also when that contains the end of a section and fences', async () => {
  const block = [
    '<notifications shown="1" total="3" key="k">',
    '<notification source="file" name="changed" level="warning" origin="filesystem" at="12:00:00"><![CDATA[',
    'a.ts changed since you read it (+1 −0):',
    '+ a ]]]]><![CDATA[> b ``` c',
    ']]></notification>',
    '<more>2 task.ended: read_notifications lists them.</more>',
    '</notifications>',
  ].join('\n');
  const { text } = await answer(
    { role: 'user', content: 'run npm test' },
    { role: 'tool', call: 'x', content: 'ok', block: { format: 'xml', text: block } },
  );
  expect(text).toContain('Meanwhile I was told:');
  expect(text).toContain('`file.changed`: a.ts changed');
  expect(text).toContain('````diff\n+ a ]]> b ``` c\n````');
  expect(text).toContain('And 2 task.ended');
});

test('it stops when it is told to', async () => {
  const abort = new AbortController();
  const parts: ModelPart[] = [];
  for await (const part of guide.stream(
    { system: '', messages: [{ role: 'user', content: 'help' }], tools: [] },
    abort.signal,
  )) {
    parts.push(part);
    abort.abort();
  }
  expect(parts).toHaveLength(1);
});
