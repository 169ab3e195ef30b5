// One conversation on three models (an endpoint, one of VS Code's, the Guide): the logs are equal except for the
// answers.
import * as assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { type Model } from '../../../src/core/ports/ports.ts';
import { createGuideModel } from '../../../src/models/guide/guide.ts';
import { createChatModel } from '../../../src/models/chat/chatModel.ts';
import { type LogEvent } from '../../../src/protocol/event.ts';
import { LanguageModels } from '../../../src/vscode/models/languageModels.ts';
import { startScriptedServer } from '../../support/models/scriptedServer.ts';
import { provideTea } from '../../support/models/teaModel.ts';
import { checkLeaks } from '../../support/vscode/startedExtension.ts';
import { startHeadless } from '../../support/walk/headless.ts';

const REQUEST = 'read note.txt then list the files';
const CALLS = [
  { id: 'guide_1', name: 'read_file', input: { path: 'note.txt' } },
  { id: 'guide_2', name: 'list_files', input: {} },
];

describe('the same conversation on three models', () => {
  checkLeaks();

  it('has the same log except for the answers, including notifications and approvals', async () => {
    const server = await startScriptedServer(
      ...CALLS.map(({ input, ...call }) => ({ text: ['So.'], calls: [{ ...call, arguments: input }] })),
      { text: ['Done.'] },
    );
    const tea = await provideTea();
    tea.script(...CALLS.map((call) => ({ text: ['Well.'], calls: [call] })), { text: ['Finished.'] });
    const access = { onDidChange: new vscode.EventEmitter<void>().event, canSendRequest: () => true };
    const languageModels = new LanguageModels(access, (error) => assert.fail(String(error)));
    const logs = [
      await logOf(createChatModel({ baseUrl: server.baseUrl, model: 'm', apiKey: async () => 'k' })),
      await logOf(languageModels.model('vscode:teashop/tea-1')),
      await logOf(createGuideModel({ wordMilliseconds: 0 })),
    ];
    languageModels.dispose();
    await server.stop();
    assert.deepEqual(logs[1], logs[0]);
    assert.deepEqual(logs[2], logs[0]);
    // Each has a request, three model calls, two approved calls, and a notification on the second result.
    const types = (logs[0] ?? []).map((event) => (event as { type: string }).type);
    const count = (type: string) => types.filter((one) => one === type).length;
    assert.deepEqual(
      ['chat_request', 'model_call', 'approval', 'tool_call_response', 'notification_queued'].map(count),
      [1, 3, 2, 2, 1],
    );
    const [, second] = (logs[0] ?? []).filter((event) => (event as { type: string }).type === 'tool_call_response');
    assert.equal((second as { notifications?: { shown: unknown[] } }).notifications?.shown.length, 1);
    // The notification on that result reached the model as part of it.
    const delivered = tea.lastRequest().messages.at(-1)?.join('\n') ?? '';
    assert.match(delivered, /^user\nguide_2 = note\.txt\|\n\n<notification [^>]*><!\[CDATA\[The kettle boils/);
  });
});

async function logOf(model: Model): Promise<readonly object[]> {
  const headless = await startHeadless({ model, settings: { 'approvals.mode': 'ask' }, ports: { producers: [] } });
  await writeFile(join(headless.folder, 'note.txt'), 'Warm the pot.\n');
  const opened = await headless.earshot.create();
  assert.ok(opened.ok);
  const { id } = opened.value.log;
  headless.frontend.answer = async ({ call }) => {
    // A notification is queued while the second call waits for its approval.
    if (call.name === 'list_files') {
      const kind = { source: 'task', name: 'ended' };
      const at = '2026-01-01T12:00:00.000Z';
      await headless.earshot.publish({ kind, level: 'info', message: 'The kettle boils.', origin: 'process', at });
    }
    return { action: 'approve', by: 'user' };
  };
  await headless.earshot.send(id, REQUEST);
  await headless.earshot.settled(id);
  await headless.earshot.shutDown();
  const lines = (await headless.events(id)).trimEnd().split('\n');
  const errors = [...headless.errors];
  await headless.end();
  assert.deepEqual(errors, []);
  return lines
    .map((line) => JSON.parse(line) as LogEvent)
    .filter(isOfTheTurn)
    .map(withoutAnswer);
}

function isOfTheTurn(event: LogEvent): boolean {
  return event.type !== 'title_set' && !(event.type === 'model_call' && event.purpose === 'title');
}

/** Removes the model's output and name, and everything that differs between any two conversations. */
function withoutAnswer(event: LogEvent): object {
  const { v: _v, seq: _seq, event_id: _id, timestamp: _at, ...rest } = event;
  const own: Record<string, unknown> = { ...rest, crc: undefined };
  if (event.type === 'chat_response') own['message'] = 'what it said';
  if (event.type === 'model_call') Object.assign(own, { model: 'which', usage: undefined, sent: undefined });
  // The system prompt names the folder of the conversation.
  if (event.type === 'config_used') Object.assign(own, { model: 'which', folders: [], prefix: event.prefix?.tools });
  const text = JSON.stringify(own)
    .replace(/[0-7][0-9A-HJKMNP-TV-Z]{25}/g, 'ULID')
    .replace(/(\\"|")key(\\?":\\?"|=\\")[\w-]+/g, '$1key$2KEY')
    .replace(/key=\\"[\w-]+\\"/g, 'key=KEY');
  return JSON.parse(text) as object;
}
