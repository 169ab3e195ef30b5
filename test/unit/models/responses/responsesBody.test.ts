// Bodies of the Responses API: parameters, found and allowed tools, answers of other models, images.
import { describe, expect, test } from 'vitest';
import { type ModelMessage } from '../../../../src/core/ports/modelMessages.ts';
import { type ModelRequest } from '../../../../src/core/ports/ports.ts';
import { responsesBody } from '../../../support/models/native/printedRequests.ts';

const user: ModelMessage = { role: 'user', content: 'Hello.' };
const tool = (name: string) => ({ name, description: `Does ${name}.`, parameters: { type: 'object', properties: {} } });
const request = (more: Partial<ModelRequest> = {}): ModelRequest => ({
  conversation: 'c1',
  system: 'You are.',
  messages: [user],
  tools: [tool('look'), tool('edit')],
  ...more,
});

describe('parameters', () => {
  test('of a reasoning model', async () => {
    const options = { reasoningEffort: 'high', maxTokens: 3, temperature: 0.5 } as const;
    expect(await responsesBody('gpt-5.6-sol', request(), { options })).toMatchObject({
      store: false,
      include: ['reasoning.encrypted_content'],
      reasoning: { effort: 'high', summary: 'auto' },
      max_output_tokens: 16,
      prompt_cache_key: 'c1',
      tool_choice: 'auto',
      temperature: 0.5,
    });
  });

  test('the effort of the request comes before that of the options', async () => {
    const options = { reasoningEffort: 'high' } as const;
    const body = await responsesBody('gpt-5.6-sol', request({ effort: 'low' }), { options });
    expect(body['reasoning']).toEqual({ effort: 'low', summary: 'auto' });
  });

  test('a model without reasoning gets none of its parameters', async () => {
    const body = await responsesBody('gpt-4o', request({ effort: 'low' }));
    expect(Object.keys(body)).not.toEqual(expect.arrayContaining(['reasoning']));
    expect(Object.keys(body)).not.toEqual(expect.arrayContaining(['include']));
  });

  test('a schema is the format of the text', async () => {
    const schema = { type: 'object', properties: { a: { type: 'string' } } };
    expect((await responsesBody('gpt-5.6-sol', request({ schema })))['text']).toEqual({
      format: { type: 'json_schema', name: 'answer', schema, strict: false },
    });
  });

  test('allowed tools are named without changing the tools', async () => {
    const all = await responsesBody('gpt-6-sol', request());
    const planned = await responsesBody('gpt-6-sol', request({ allowed: ['look', 'gone'] }));
    expect(planned['tools']).toEqual(all['tools']);
    expect(planned['tool_choice']).toEqual({
      type: 'allowed_tools',
      mode: 'auto',
      tools: [{ type: 'function', name: 'look' }],
    });
    expect((await responsesBody('gpt-6-sol', request({ allowed: 'none' })))['tool_choice']).toBe('none');
    expect((await responsesBody('gpt-6-sol', request({ allowed: ['gone'] })))['tool_choice']).toBe('none');
  });
});

describe('found tools', () => {
  const finds: readonly ModelMessage[] = [
    user,
    {
      role: 'assistant',
      content: '',
      calls: [
        { id: 'c1', name: 'look', arguments: '{}' },
        { id: 'c2', name: 'look', arguments: '{}' },
      ],
    },
    { role: 'tool', call: 'c1', content: 'Found deploy.', found: ['deploy'] },
    { role: 'tool', call: 'c2', content: 'Seen.' },
  ];
  const found = [tool('before'), tool('deploy')];

  test('are added after the outputs that found them; those of before a compaction are the last tools', async () => {
    const body = await responsesBody('gpt-6-sol', request({ messages: finds, found }));
    expect((body['tools'] as { name: string }[]).map(({ name }) => name)).toEqual(['look', 'edit', 'before']);
    expect((body['input'] as { type?: string }[]).slice(-3)).toMatchObject([
      { type: 'function_call_output', call_id: 'c1' },
      { type: 'function_call_output', call_id: 'c2' },
      { type: 'additional_tools', role: 'developer', tools: [{ name: 'deploy', strict: false }] },
    ]);
  });

  test('a model that does not know this gets them at the end of its tools', async () => {
    const body = await responsesBody('grok-4.7', request({ messages: finds, found }));
    expect((body['tools'] as { name: string }[]).map(({ name }) => name)).toEqual(['look', 'edit', 'before', 'deploy']);
    expect(JSON.stringify(body['input'])).not.toContain('additional_tools');
  });
});

describe('an answer in another form', () => {
  const call = { id: 'c1', name: 'look', arguments: '{"at":1}' };
  const reasoning = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'e' };
  const made = { type: 'function_call', id: 'fc_1', call_id: 'c1', name: 'look', arguments: '{"at":1}' };
  const origin = { api: 'responses' as const, provider: 'https://api.openai.com', model: 'gpt-6-sol' };
  const body = async (items: readonly unknown[], more: object = {}, calls = [call]) => {
    const messages: ModelMessage[] = [
      user,
      { role: 'assistant', content: 'I look.', calls, origin: { ...origin, items: [...items], ...more } },
      ...calls.map(({ id }) => ({ role: 'tool' as const, call: id, content: 'Seen.' })),
    ];
    const { input } = (await responsesBody('gpt-6-sol', request({ messages }))) as { input: { type?: string }[] };
    return input.slice(1).map(({ type }) => type);
  };

  test('reasoning of another model is left out', async () => {
    expect(await body([reasoning, made])).toEqual(['reasoning', 'function_call', 'function_call_output']);
    expect(await body([reasoning, made], { model: 'gpt-6.1-sol' })).toEqual(['function_call', 'function_call_output']);
  });

  test('reasoning without encrypted content, or that nothing follows, is left out', async () => {
    expect(await body([{ ...reasoning, encrypted_content: null }, made])).toEqual([
      'function_call',
      'function_call_output',
    ]);
    expect(await body([made, reasoning])).toEqual(['function_call', 'function_call_output']);
  });

  test('items of another provider, or whose calls have other ids, are written anew', async () => {
    const anew = ['message', 'function_call', 'function_call_output'];
    expect(await body([reasoning, made], { provider: 'https://other.example' })).toEqual(anew);
    expect(await body([reasoning, made], {}, [{ ...call, id: 'call_new' }])).toEqual(anew);
  });

  test('an id of the server that others refuse is mapped in its own item, too, and its reasoning stays', async () => {
    const id = 'functions.look:0';
    const items = [reasoning, { ...made, call_id: id }];
    const messages: ModelMessage[] = [
      user,
      { role: 'assistant', content: '', calls: [{ ...call, id }], origin: { ...origin, items } },
      { role: 'tool', call: id, content: 'Seen.' },
    ];
    const { input } = (await responsesBody('gpt-6-sol', request({ messages }))) as { input: Record<string, string>[] };
    expect(input.slice(1).map(({ type }) => type)).toEqual(['reasoning', 'function_call', 'function_call_output']);
    expect(input[2]?.['call_id']).toMatch(/^call_[0-9a-f]{32}$/);
    expect(input[3]?.['call_id']).toBe(input[2]?.['call_id']);
  });

  test('an id that is too long is mapped for the call and its output', async () => {
    const id = 'x'.repeat(100);
    const messages: ModelMessage[] = [
      user,
      { role: 'assistant', content: '', calls: [{ id, name: 'look', arguments: '{"at": cut' }] },
      { role: 'tool', call: id, content: 'half \ud800' },
    ];
    const { input } = (await responsesBody('gpt-6-sol', request({ messages }))) as { input: Record<string, string>[] };
    expect(input[1]?.['call_id']).toMatch(/^call_[0-9a-f]{32}$/);
    expect(input[2]).toEqual({ type: 'function_call_output', call_id: input[1]?.['call_id'], output: 'half \ufffd' });
    expect(input[1]?.['arguments']).toBe('{"INVALID_JSON":"{\\"at\\": cut"}');
  });
});

test('images of results are in the output; a missing one is named', async () => {
  const messages: ModelMessage[] = [
    user,
    { role: 'assistant', content: '', calls: [{ id: 'c1', name: 'look', arguments: '{}' }] },
    {
      role: 'tool',
      call: 'c1',
      content: 'Two images.',
      resultImages: [
        { hash: 'h', mediaType: 'image/png', name: 'a.png' },
        { hash: 'gone', mediaType: 'image/png', name: 'b.png' },
      ],
    },
  ];
  const image = async (hash: string) => (hash === 'h' ? new Uint8Array([1, 2]) : undefined);
  const { input } = (await responsesBody('gpt-6-sol', request({ messages, image }))) as {
    input: { output: unknown }[];
  };
  expect(input.at(-1)?.output).toEqual([
    { type: 'input_text', text: 'Two images.' },
    { type: 'input_image', image_url: 'data:image/png;base64,AQI=', detail: 'auto' },
    { type: 'input_text', text: '(b.png is not shown: its bytes are gone.)' },
  ]);
});
