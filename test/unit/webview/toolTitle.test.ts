// Titles of tool calls: every shipped tool has a readable one, which names what the call is about.
import { expect, test } from 'vitest';
import { agentOutput } from '../../../src/webview/cards/agentOutput.ts';
import { titlePath, toolIcon, toolLabel, toolTitle } from '../../../src/webview/toolTitle.ts';
import { transcriptStrings } from '../../../src/webview/strings/transcriptStrings.ts';
import { shippedTools } from '../../support/shippedTools.ts';

test.each([...shippedTools.names])('%s has a readable title and an icon', (name) => {
  expect(toolTitle(name, {})).toMatch(/^[A-Z][a-z]/);
  expect(toolIcon(name)).not.toBe('tools');
});

test.each([
  ['read_file', { path: 'src/a.ts' }, 'Read src/a.ts'],
  ['move_file', { path: 'a.ts', to: 'b.ts' }, 'Move a.ts → b.ts'],
  ['symbols', { action: 'references', path: 'src/a.ts', symbol: 'order' }, 'Find references to order'],
  ['symbols', { action: 'outline', path: 'src/a.ts' }, 'Outline src/a.ts'],
  ['watch', { add: ['src/**', 'test/**'] }, 'Watch src/**, test/**'],
  ['watch', { remove: ['src/**'] }, 'Stop watching src/**'],
  ['handle', { action: 'abort', name: 'build' }, 'Stop build'],
  ['load_skill', { name: 'release' }, 'Load skill release'],
  ['read_message', { id: 'msg_01M7ABC' }, 'Read message'],
  ['ask_user', { question: 'Which `tea`?' }, 'Question: Which tea?'],
  ['apply_patch', { input: '*** Update File: a.ts\n*** Delete File: b.ts\n' }, 'Patch a.ts + 1'],
  ['kitchen__order', { tea: 'oolong' }, 'kitchen: order oolong'],
  ['unknown', { a: 1 }, 'unknown'],
])('%s %o: %s', (name, values, title) => {
  expect(toolTitle(name, values)).toBe(title);
});

test('the path in a title opens only a file that exists after the call', () => {
  expect(titlePath('edit_file', { path: 'src/a.ts' })).toBe('src/a.ts');
  expect(titlePath('delete_file', { path: 'src/a.ts' })).toBeUndefined();
  expect(titlePath('list_files', { path: 'src' })).toBeUndefined();
  expect(titlePath('read_file', { path: 3 })).toBeUndefined();
});

test('tools of MCP servers have readable names, also in groups', () => {
  expect(toolLabel('kitchen__make__tea')).toBe('kitchen: make tea');
  expect(transcriptStrings.groupTitle('kitchen__order', 3, 1)).toBe('kitchen: order × 3, 1 failed');
});

test('the output of a subagent shows its calls by their titles, also truncated ones, and its answers without Markdown marks', () => {
  const output = [
    '> run_command {"command":"npm test -- --reporter=ver',
    '> kitchen__order {"tea":"oolong"}',
    '> list_agents {}',
    '> unfinished',
    '| The tests > pass.',
    '|',
    '(Its name for messages is amber-finch.)',
  ];
  expect(agentOutput(output.join('\n')).split('\n')).toEqual([
    'Run npm test -- --reporter=ver',
    'kitchen: order oolong',
    'List agents',
    '> unfinished',
    'The tests > pass.',
    '',
    '(Its name for messages is amber-finch.)',
  ]);
});
