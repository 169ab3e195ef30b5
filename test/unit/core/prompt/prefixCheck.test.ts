// The comparison of consecutive requests, and what is logged about a lost cache.
import { expect, test } from 'vitest';
import { type ModelRequest } from '../../../../src/core/ports/ports.ts';
import { prefixBreak, PromptState } from '../../../../src/core/prompt/promptState.ts';
import { createMemoryLog } from '../../../support/log/memoryLog.ts';

const tool = (name: string) => ({ name, description: '', parameters: {} });
const user = (content: string) => ({ role: 'user', content }) as const;
const base: ModelRequest = { system: 's', messages: [user('a')], tools: [tool('x')] };

test.each<[string, Partial<ModelRequest>, object | undefined]>([
  ['the same', {}, undefined],
  ['one more message', { messages: [user('a'), user('b')] }, undefined],
  ['equal messages that are other objects', { messages: [{ ...user('a') }, user('b')] }, undefined],
  ['a tool found later', { found: [tool('y')] }, undefined],
  ['another prompt', { system: 't' }, { part: 'system', at: 0 }],
  ['one more tool', { tools: [tool('x'), tool('y')] }, { part: 'tools', at: 1 }],
  ['a tool less', { tools: [] }, { part: 'tools', at: 0 }],
  ['a changed message', { messages: [user('b'), user('c')] }, { part: 'messages', at: 0 }],
  ['a message less', { messages: [] }, { part: 'messages', at: 0 }],
])('%s', (_, change, expected) => {
  expect(prefixBreak(base, { ...base, ...change })).toEqual(expected);
});

test('found tools that change their order break the prefix', () => {
  const before = { ...base, found: [tool('y'), tool('z')] };
  expect(prefixBreak(before, { ...base, found: [tool('z'), tool('y')] })).toEqual({ part: 'found', at: 0 });
});

test('a lost cache is logged with its cause, and one without a cause as a warning', async () => {
  const { log } = await createMemoryLog();
  const lines: string[] = [];
  const logger = {
    info: (line: string) => lines.push(`info ${line}`),
    warn: (line: string) => lines.push(`warn ${line}`),
  };
  const config = { type: 'config_used', model: 'm', mode: 'agent', tools: [], instructions: [] } as const;
  const prefix = { system: 'a', tools: 'b', names: [] };
  await log.append({ ...config, tools: [], instructions: [], prefix });
  const state = new PromptState();
  state.check(log, logger, base, 'm');
  state.check(log, logger, { ...base, messages: [user('a'), user('b')] }, 'm');
  expect(lines).toEqual([]);
  state.check(log, logger, base, 'n');
  await log.append({ type: 'compaction', summary: 'Short.', through: 1 });
  state.check(log, logger, { ...base, messages: [user('Short.')] }, 'n');
  state.check(log, logger, { ...base, system: 'other' }, 'n');
  expect(lines.map((line) => line.replaceAll(log.id, 'ID'))).toEqual([
    'info The prompt cache of ID starts again: another model, n.',
    'info The prompt cache of ID starts again: the conversation was compacted.',
    'warn The prompt cache of ID is lost for no listed reason: request parts differ (system, at 0).',
  ]);
});
