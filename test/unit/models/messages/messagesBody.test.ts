// Bodies of the Messages API: thinking by model, the order of messages, found tools, breakpoints.
import { describe, expect, test } from 'vitest';
import { type Block, type ModelMessage } from '../../../../src/core/ports/modelMessages.ts';
import { type ModelRequest } from '../../../../src/core/ports/ports.ts';
import { textContent } from '../../../support/models/native/anthropicEndpoint.ts';
import { messagesBody } from '../../../support/models/native/printedRequests.ts';

const user: ModelMessage = { role: 'user', content: 'Hello.' };
const tool = (name: string) => ({ name, description: `Does ${name}.`, parameters: { type: 'object', properties: {} } });
const request = (more: Partial<ModelRequest> = {}): ModelRequest => ({
  conversation: 'c1',
  system: 'You are.',
  messages: [user],
  tools: [tool('look'), tool('edit')],
  ...more,
});
const calling = (...ids: readonly string[]): ModelMessage => ({
  role: 'assistant',
  content: '',
  calls: ids.map((id) => ({ id, name: 'look', arguments: '{}' })),
});

describe('thinking and effort', () => {
  const adaptive = { type: 'adaptive', display: 'summarized' };
  const bound = { ...adaptive, block_binding: { prefix_mismatch_behavior: 'drop_block' } };
  test.each([
    ['claude-fable-5-1', undefined, bound, undefined],
    ['claude-fable-5-1', 'none', bound, 'low'],
    ['claude-fable-5', 'max', adaptive, 'max'],
    ['claude-opus-5-5', 'high', bound, 'high'],
    ['claude-sonnet-5-5', 'none', { type: 'between_tools' }, undefined],
    ['claude-opus-5', 'none', { type: 'disabled' }, undefined],
    ['claude-opus-5', 'minimal', adaptive, 'low'],
    ['claude-opus-4-8', undefined, adaptive, undefined],
    ['claude-sonnet-5', 'xhigh', adaptive, 'xhigh'],
    ['claude-opus-4-6', 'xhigh', adaptive, 'high'],
    ['claude-sonnet-4-5-20250929', undefined, { type: 'enabled', budget_tokens: 10_000 }, undefined],
    ['claude-haiku-4-5', 'none', { type: 'disabled' }, undefined],
    ['claude-3-7-sonnet-20250219', 'max', { type: 'enabled', budget_tokens: 30_976 }, undefined],
    ['claude-3-5-haiku-latest', 'high', undefined, undefined],
    ['MiniMax-M3', undefined, undefined, undefined],
    ['MiniMax-M3', 'low', { type: 'enabled', budget_tokens: 4096 }, undefined],
  ] as const)('%s, %s', async (model, effort, thinking, sent) => {
    const body = await messagesBody(model, request(effort === undefined ? {} : { effort }));
    expect(body['thinking']).toEqual(thinking);
    expect((body['output_config'] as { effort?: string } | undefined)?.effort).toBe(sent);
  });

  test('the limit of the answer is larger than the budget', async () => {
    const body = await messagesBody('claude-haiku-4-5', request({ effort: 'max' }), { options: { maxTokens: 4000 } });
    expect(body).toMatchObject({ max_tokens: 4000, thinking: { budget_tokens: 2976 } });
    const small = await messagesBody('claude-haiku-4-5', request(), { options: { maxTokens: 1500 } });
    expect(small['thinking']).toEqual({ type: 'disabled' });
  });

  test('calls of another model without thinking switch a budget off', async () => {
    const messages: ModelMessage[] = [user, calling('c1'), { role: 'tool', call: 'c1', content: 'Seen.' }];
    expect((await messagesBody('claude-haiku-4-5', request({ messages })))['thinking']).toBeUndefined();
    expect((await messagesBody('claude-opus-5-5', request({ messages })))['thinking']).toBeDefined();
  });

  test('a temperature is only sent to models that take it', async () => {
    const options = { temperature: 0.5 };
    expect((await messagesBody('claude-opus-5-5', request(), { options }))['temperature']).toBeUndefined();
    expect((await messagesBody('claude-haiku-4-5', request(), { options }))['temperature']).toBeUndefined();
    expect((await messagesBody('MiniMax-M3', request(), { options }))['temperature']).toBe(0.5);
  });
});

describe('messages', () => {
  interface Wire {
    readonly role: string;
    readonly content: readonly Record<string, unknown>[];
  }
  const printed = async (
    messages: readonly ModelMessage[],
    model = 'claude-opus-5-5',
    more: Partial<ModelRequest> = {},
  ) =>
    (await messagesBody(model, request({ messages, ...more }))) as {
      messages: Wire[];
      tools: Record<string, unknown>[];
    };
  const developer: Block = { format: 'developer', text: 'Facts.' };
  const xml: Block = { format: 'xml', text: '<notification/>' };

  test('results come first in one message, then the user’s words, then the host’s message', async () => {
    const { messages } = await printed([
      user,
      calling('c1', 'c2'),
      { role: 'tool', call: 'c1', content: 'One.' },
      { role: 'tool', call: 'c2', content: 'Two.', block: developer, queued: ['Stop.', 'Really.'] },
    ]);
    expect(messages.slice(2).map(({ role, content }) => [role, content.map(({ type }) => type)])).toEqual([
      ['user', ['tool_result', 'tool_result', 'text', 'text']],
      ['system', ['text']],
    ]);
  });

  test('a model without system messages gets the block at the end of the last result', async () => {
    for (const block of [developer, xml]) {
      const { messages } = await printed(
        [user, calling('c1'), { role: 'tool', call: 'c1', content: 'One.', block, queued: ['Stop.'] }],
        'claude-sonnet-5',
      );
      expect(messages.at(-1)?.content).toMatchObject([
        { type: 'tool_result', content: [{ text: 'One.' }, { text: block.text }] },
        { type: 'text', text: 'Stop.' },
      ]);
    }
  });

  test('a block of a request that starts a turn follows it as the host’s message, or is above its text', async () => {
    const asked: ModelMessage = { ...user, block: developer };
    expect((await printed([asked])).messages.map(({ role }) => role)).toEqual(['user', 'system']);
    const { messages } = await printed([asked], 'claude-sonnet-5');
    expect(messages.map(({ content }) => content.map(({ text }) => text))).toEqual([['Facts.', 'Hello.']]);
  });

  test('host messages of two unanswered requests follow both', async () => {
    const { messages } = await printed([
      { ...user, block: developer },
      { ...user, block: developer },
    ]);
    expect(messages.map(({ role, content }) => [role, content.length])).toEqual([
      ['user', 2],
      ['system', 2],
    ]);
  });

  test('the first and the last message are the user’s, and empty answers are left out', async () => {
    const answer: ModelMessage = { role: 'assistant', content: 'Hi.', calls: [] };
    const { messages } = await printed([answer, { ...answer, content: '  ' }, answer]);
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant', 'user']);
  });

  test('a failed result has only text; its images follow the results', async () => {
    const { messages } = await printed(
      [
        user,
        calling('c1', 'c2'),
        {
          role: 'tool',
          call: 'c1',
          content: 'Failed.',
          failed: true,
          resultImages: [{ hash: 'h', mediaType: 'image/png', name: 'a.png' }],
        },
        { role: 'tool', call: 'c2', content: '', resultImages: [{ hash: 'h', mediaType: 'image/png', name: 'a.png' }] },
      ],
      'claude-opus-5-5',
      { image: async () => new Uint8Array([1]) },
    );
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AQ==' } };
    expect(messages.at(-1)?.content).toMatchObject([
      { type: 'tool_result', content: 'Failed.', is_error: true },
      { type: 'tool_result', content: [image] },
      { type: 'text' },
      image,
    ]);
  });

  test('ids and arguments of other APIs are mapped', async () => {
    const id = 'functions.look:0';
    const calls = [{ id, name: 'look', arguments: '{"at": cut' }];
    const { messages } = await printed([
      user,
      { role: 'assistant', content: '', calls },
      { role: 'tool', call: id, content: 'x' },
    ]);
    const [use, result] = [messages[1]?.content[0], messages[2]?.content[0]];
    expect(use).toEqual({
      type: 'tool_use',
      id: expect.stringMatching(/^[a-zA-Z0-9_-]{1,64}$/) as string,
      name: 'look',
      input: { INVALID_JSON: '{"at": cut' },
    });
    expect(result?.['tool_use_id']).toBe(use?.['id']);
  });

  test('ids of a compatible server are mapped in its own blocks, too, and its thinking stays', async () => {
    const id = 'functions.look:0';
    const items = [
      { type: 'thinking', thinking: 'Hm.', signature: 's' },
      { type: 'tool_use', id, name: 'look', input: {} },
    ];
    const origin = { api: 'messages' as const, provider: 'https://api.anthropic.com', model: 'claude-opus-4-8', items };
    const calls = [{ id, name: 'look', arguments: '{}' }];
    const answer: ModelMessage = { role: 'assistant', content: '', calls, origin };
    const { messages } = await printed([user, answer, { role: 'tool', call: id, content: 'x' }]);
    const [thinking, use] = messages[1]?.content ?? [];
    expect(thinking).toEqual(items[0]);
    expect(use?.['id']).toMatch(/^call_[0-9a-f]{32}$/);
    expect(messages[2]?.content[0]?.['tool_use_id']).toBe(use?.['id']);
  });

  test('Anthropic compares a request with that of the answer before, if this model gave it', async () => {
    const compared = async (more: object, baseUrl?: string) => {
      const items = [
        { type: 'message_id', id: 'msg_7' },
        { type: 'text', text: 'Hi.' },
      ];
      const own = { api: 'messages' as const, provider: 'https://api.anthropic.com', model: 'claude-opus-5-5', items };
      const answer: ModelMessage = { role: 'assistant', content: 'Hi.', calls: [], origin: { ...own, ...more } };
      const given = request({ messages: [user, answer, user] });
      const body = await messagesBody('claude-opus-5-5', given, baseUrl === undefined ? {} : { baseUrl });
      expect((body['messages'] as object[])[1]).toEqual({
        role: 'assistant',
        content: [{ type: 'text', text: 'Hi.' }],
      });
      return body['diagnostics'];
    };
    expect(await compared({})).toEqual({ previous_message_id: 'msg_7' });
    expect(await compared({ model: 'claude-sonnet-5-5' })).toBeUndefined();
    const gateway = 'https://gateway.example';
    expect(await compared({ provider: gateway }, `${gateway}/anthropic`)).toBeUndefined();
  });

  test('thinking without a signature is not sent to Anthropic', async () => {
    const items = [
      { type: 'thinking', thinking: 'Hm.', signature: '' },
      { type: 'text', text: '' },
      textContent('Hi.'),
    ];
    const origin = { api: 'messages' as const, provider: 'https://api.anthropic.com', model: 'x', items };
    const { messages } = await printed([user, { role: 'assistant', content: 'Hi.', calls: [], origin }, user]);
    expect(messages[1]?.content).toEqual([textContent('Hi.')]);
  });

  test('found tools are deferred and referenced; those of before a compaction, or of older models, are ordinary ones', async () => {
    const finds: ModelMessage[] = [
      user,
      calling('c1'),
      { role: 'tool', call: 'c1', content: 'Found.', found: ['deploy'] },
    ];
    const found = [tool('before'), tool('deploy')];
    const { messages, tools } = await printed(finds, 'claude-opus-5-5', { found });
    expect(tools.map(({ name, defer_loading, cache_control }) => [name, defer_loading, cache_control])).toEqual([
      ['look', undefined, undefined],
      ['edit', undefined, undefined],
      ['before', undefined, { type: 'ephemeral' }],
      ['deploy', true, undefined],
    ]);
    expect(messages.at(-1)?.content).toMatchObject([
      { content: [{ type: 'text' }, { type: 'tool_reference', tool_name: 'deploy' }] },
    ]);
    const older = await printed(finds, 'claude-opus-4-1', { found });
    expect(older.tools.map(({ name }) => name)).toEqual(['look', 'edit', 'before', 'deploy']);
    expect(JSON.stringify(older.messages)).not.toContain('tool_reference');
  });

  test('what may be called never changes a request: another choice of tools would invalidate the cached messages', async () => {
    const plain = await messagesBody('claude-opus-5-5', request());
    expect(plain).not.toHaveProperty('tool_choice');
    for (const allowed of ['none', ['look']] as const)
      expect(await messagesBody('claude-opus-5-5', request({ allowed }))).toEqual(plain);
  });

  test('Fireworks gets no breakpoint on tools', async () => {
    const body = await messagesBody('accounts/fireworks/models/minimax-m3', request(), {
      baseUrl: 'https://api.fireworks.ai/inference',
    });
    expect(JSON.stringify(body['tools'])).not.toContain('cache_control');
    expect(JSON.stringify(body['system'])).toContain('cache_control');
  });
});
