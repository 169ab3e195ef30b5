// VS Code's own models, provided by a test extension: requests, answers, failures, and models that are added or removed.
import * as assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { type ModelMessage } from '../../../src/core/ports/modelMessages.ts';
import { type Model, type ModelPart, type ModelRequest } from '../../../src/core/ports/ports.ts';
import { LanguageModels, languageModelName } from '../../../src/vscode/models/languageModels.ts';
import { sharedConversation } from '../../support/models/sharedConversation.ts';
import { provideTea, type TeaModel } from '../../support/models/teaModel.ts';
import { checkLeaks, eventually } from '../../support/vscode/startedExtension.ts';

/** An image of one pixel. */
const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const NAME = 'vscode:teashop/tea-1';
const access = { onDidChange: new vscode.EventEmitter<void>().event, canSendRequest: () => true };

describe('VS Code’s own models', () => {
  checkLeaks('once');
  let tea: TeaModel;
  let models: LanguageModels;
  let model: Model;

  beforeEach(async () => {
    tea = await provideTea();
    models = new LanguageModels(access, (error) => assert.fail(String(error)));
    model = models.model(NAME);
    await eventually(
      () => model.label,
      (label) => label === 'Tea One',
    );
  });
  afterEach(() => models.dispose());

  async function ask(
    messages: readonly ModelMessage[] = [{ role: 'user', content: 'Hello.' }],
    signal = new AbortController().signal,
    image?: ModelRequest['image'],
  ): Promise<ModelPart[]> {
    const parts: ModelPart[] = [];
    const tools = [{ name: 'pour', description: 'Pours.', parameters: { type: 'object' } }];
    for await (const part of model.stream({ system: 'Be brief.', messages, tools, ...(image && { image }) }, signal))
      parts.push(part);
    return parts;
  }

  it('are listed with their name and context window', async () => {
    const listed = await models.list();
    assert.deepEqual(listed.map(languageModelName), [NAME]);
    assert.deepEqual([model.detail, model.contextWindow, model.mayRunUnasked?.()], ['VS Code, teashop', 31_000, true]);
  });

  it('answer with text and calls, and their usage is counted', async () => {
    tea.script({ text: ['It ', 'is.'], calls: [{ id: 'c1', name: 'pour', input: { cups: 2 } }] });
    const parts = await ask();
    assert.deepEqual(parts.slice(0, 3), [
      { type: 'text', text: 'It ' },
      { type: 'text', text: 'is.' },
      { type: 'tool_call', id: 'c1', name: 'pour', arguments: '{"cups":2}' },
    ]);
    const finished = parts.at(-1);
    assert.ok(finished?.type === 'finished');
    assert.equal(finished.usage?.output_tokens, 'It is.pour{"cups":2}'.length);
    assert.ok(finished.usage.input_tokens > 'Be brief.Hello.'.length);
  });

  it('get the system prompt first, tool results as results, and blocks in the right place', async () => {
    const block = { format: 'xml', text: '<notifications/>' } as const;
    tea.script({ text: ['Yes.'] });
    await ask([
      { role: 'user', content: 'One.', block },
      { role: 'assistant', content: 'I pour.', calls: [call('a', '{"cups":1}'), call('b', 'no json')] },
      { role: 'tool', call: 'a', content: 'poured' },
      { role: 'tool', call: 'b', content: 'spilt', block, queued: ['Use the red cups.'] },
      { role: 'assistant', content: 'Poured.', calls: [] },
      { role: 'user', content: 'Two.', block: { ...block, format: 'developer' } },
    ]);
    const { messages, options } = tea.lastRequest();
    assert.deepEqual(messages, [
      ['user', 'Be brief.'],
      ['user', '<notifications/>', '\n\nOne.'],
      ['assistant', 'I pour.', 'a pour {"cups":1}', 'b pour {"invalid_json":"no json"}'],
      // The user's words are a part after the results, never inside one.
      ['user', 'a = poured', 'b = spilt|\n\n<notifications/>', '\n\nUse the red cups.'],
      ['assistant', 'Poured.'],
      ['user', '<notifications/>', '\n\nTwo.'],
    ]);
    assert.deepEqual(options.tools, ['pour']);
  });

  for (const { name, request } of sharedConversation(() => undefined, 'xml')) {
    it(`get the requests of the conversation that all APIs share: ${name}`, async () => {
      tea.script({ text: ['Yes.'] });
      // VS Code reads the size of an image.
      const asked = { ...request, image: async () => PIXEL };
      for await (const part of model.stream(asked, new AbortController().signal)) assert.notEqual(part.type, 'failed');
      const { messages, options } = tea.lastRequest();
      const printed = messages.map(([role = '', ...parts]) => [
        `${role}:`,
        ...parts.map((part) => `  ${JSON.stringify(part)}`),
      ]);
      const text = [...printed.flat(), `tools: ${options.tools.join(', ')}`, ''].join('\n');
      const root = vscode.extensions.getExtension('earshot.earshot')?.extensionPath ?? '';
      const golden = join(root, 'test/unit/models/golden', `vscode-${name.replace(' ', '-')}.golden.txt`);
      assert.equal(text, await readFile(golden, 'utf8'));
    });
  }

  it('get images, or a text that says why not', async () => {
    const images = ['there', 'gone'].map((hash) => ({ hash, mediaType: 'image/png', name: `${hash}.png` }));
    tea.script({ text: ['Yes.'] });
    const image = async (hash: string) => (hash === 'there' ? PIXEL : undefined);
    const parts = await ask([{ role: 'user', content: 'Look.', images }], undefined, image);
    assert.deepEqual(parts[0], { type: 'text', text: 'Yes.' });
    const sent = tea.lastRequest().messages.at(-1);
    assert.deepEqual(sent, [
      'user',
      'Look.',
      `image/png ${[...PIXEL].join()}`,
      '\n\n(The image gone.png is not shown: its bytes are gone.)',
    ]);
  });

  const faults: [string, { code?: string; message: string }, string, boolean][] = [
    ['no consent', { code: 'NoPermissions', message: 'no' }, 'no_permission', false],
    ['a used-up quota', { code: 'Blocked', message: 'Quota exceeded' }, 'no_quota', false],
    ['a refusal', { code: 'Blocked', message: 'not this' }, 'refused', false],
    ['a model that is gone', { code: 'NotFound', message: 'gone' }, 'model_gone', false],
    ['too many requests', { message: 'Request failed: 429 Too Many Requests' }, 'rate_limited', true],
    ['a filtered answer', { message: 'The response was filtered' }, 'refused', false],
    ['too long a conversation', { message: 'prompt is too long: 40000 tokens' }, 'context_overflow', false],
    ['a network that is down', { message: 'fetch failed' }, 'unreachable', true],
    ['anything else', { message: 'The kettle broke' }, 'refused', false],
  ];
  for (const [what, fail, code, again] of faults) {
    it(`report ${what} with the next step`, async () => {
      tea.script({ fail });
      const last = (await ask()).at(-1);
      assert.ok(last?.type === 'failed');
      assert.deepEqual([last.failure.code, last.retry !== undefined], [code, again]);
      assert.match(last.failure.message, /Tea One|tea-1/);
      assert.match(last.failure.nextStep ?? '', /\.$/);
    });
  }

  it('report a broken connection and how much of the answer had arrived', async () => {
    tea.script({ text: ['It is'], hold: true, fail: { message: 'fetch failed' } });
    const request = { system: '', messages: [{ role: 'user' as const, content: 'Hello.' }], tools: [] };
    let last: ModelPart | undefined;
    for await (const part of model.stream(request, new AbortController().signal)) {
      last = part;
      if (part.type === 'text') tea.release();
    }
    assert.ok(last?.type === 'failed');
    assert.equal(last.failure.code, 'stream_broken');
    assert.match(last.failure.message, /^The connection to Tea One broke after 5 characters of the answer/);
  });

  it('are cancelled when the reader stops', async () => {
    tea.script({ text: ['Wait'], hang: true });
    const before = tea.cancelled;
    const request = { system: '', messages: [{ role: 'user' as const, content: 'Hello.' }], tools: [] };
    for await (const part of model.stream(request, new AbortController().signal)) {
      assert.equal(part.type, 'text');
      break;
    }
    await eventually(
      () => tea.cancelled,
      (cancelled) => cancelled === before + 1,
    );
  });

  it('end the answer at once when cancelled', async () => {
    tea.script({ text: ['Wait'], hang: true });
    const abort = new AbortController();
    const before = tea.cancelled;
    const asked = ask(undefined, abort.signal);
    await eventually(
      () => tea.requests,
      (requests) => requests > 0,
    );
    abort.abort();
    assert.ok((await asked).every(({ type }) => type === 'text'));
    await eventually(
      () => tea.cancelled,
      (cancelled) => cancelled === before + 1,
    );
  });

  it('can be added and removed: listeners are notified, and a request to a removed one fails', async () => {
    let changes = 0;
    const listening = models.onDidChange(() => (changes += 1));
    tea.offer([]);
    await eventually(
      () => model.label,
      (label) => label === 'teashop/tea-1',
    );
    assert.equal(model.mayRunUnasked?.(), false);
    const [part] = await ask();
    assert.ok(part?.type === 'failed' && part.failure.code === 'model_gone');
    tea.offer();
    await eventually(
      () => model.label,
      (label) => label === 'Tea One',
    );
    assert.ok(changes >= 2);
    listening.dispose();
  });
});

function call(id: string, args: string) {
  return { id, name: 'pour', arguments: args };
}
