// One notification's walk (DESIGN 3): a seen file changes while a command runs, and the command's result delivers the notification.
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { type Earshot } from '../../../src/core/earshot.ts';
import { createChatModel } from '../../../src/models/chat/chatModel.ts';
import { type LogEvent } from '../../../src/protocol/event.ts';
import { type ScriptedServer, startScriptedServer } from '../../support/models/scriptedServer.ts';
import { type Headless, startHeadless } from '../../support/walk/headless.ts';

const word = () => `w${randomBytes(4).toString('hex')}`;

let headless: Headless | undefined;
let server: ScriptedServer | undefined;

afterEach(async () => {
  await headless?.end();
  await server?.stop();
});

interface WireMessage {
  role: string;
  content: string;
  tool_call_id?: string;
}

test('a change of a seen file is delivered with the result of the running command', async () => {
  const names = { file: `${word()}.txt`, line: word(), changed: word(), model: word(), call: word(), answer: word() };
  server = await startScriptedServer(
    { calls: [{ id: `${names.call}-read`, name: 'read_file', arguments: { path: names.file } }] },
    {
      calls: [
        { id: `${names.call}-run`, name: 'run_command', arguments: { command: `cat pipe && echo ${names.answer}` } },
      ],
    },
    { text: [names.answer, ' heard.'] },
  );
  headless = await startHeadless({
    model: createChatModel({ baseUrl: server.baseUrl, model: names.model, apiKey: async () => undefined }),
  });
  const { earshot, folder } = headless;
  await writeFile(join(folder, names.file), `first\n${names.line}\nlast\n`);
  // The command ends when the test writes to the pipe, so there is no timing to guess.
  const { execFileSync } = await import('node:child_process');
  execFileSync('mkfifo', [join(folder, 'pipe')]);
  const opened = await earshot.create();
  if (!opened.ok) throw new Error(opened.failure.message);
  const { log } = opened.value;

  const queued = nextQueued(earshot);
  expect(await earshot.send(log.id, 'Go on.')).toEqual({ ok: true, value: undefined });
  await server.request(1);
  await writeFile(join(folder, names.file), `first\n${names.changed}\nlast\n`);
  const { notification } = await queued;
  expect(log.state.pending.notifications.map(({ id }) => id)).toEqual([notification.id]);
  await writeFile(join(folder, 'pipe'), 'go\n');
  await earshot.settled(log.id);

  // Depending on the machine's speed, the change is observed, or found when watching starts.
  expect(notification.message).toMatch(
    new RegExp(`^${names.file} changed since you read it(, while your command \`cat pipe.*\` was running)?:\n`),
  );
  const diff = ` first\n-${names.line}\n+${names.changed}\n last`;
  const [head = ''] = notification.message.split('\n', 1);
  const block = `<notification source="file" name="changed" level="warning" key="${log.state.turn.key}"><![CDATA[${head}\n${diff}]]></notification>`;

  // The bytes on the wire.
  const third = JSON.parse((await server.request(2)).body) as { model: string; messages: WireMessage[] };
  expect(third.model).toBe(names.model);
  const { length } = third.messages;
  expect(third.messages[length - 1]).toEqual({
    role: 'tool',
    tool_call_id: `${names.call}-run`,
    content: `go\n${names.answer}\n(exit code 0)\n\n${block}`,
  });
  expect(server.requests[2]?.body).toContain(JSON.stringify(block).slice(1, -1));
  expect(server.requests[1]?.body).not.toContain('<notification source');
  expect(third.messages[0]?.content.split('\n').at(-1)).toContain(log.state.turn.key);

  // The bytes on disk.
  const lines = (await headless.events(log.id)).trimEnd().split('\n');
  const events = lines.map((line) => JSON.parse(line) as LogEvent);
  expect(events.map((event) => event.seq)).toEqual(events.map((_, index) => index + 1));
  const carrier = events.find((event) => event.type === 'tool_call_response' && event.notifications !== undefined);
  expect(carrier).toMatchObject({
    id: `${names.call}-run`,
    notifications: { format: 'xml', text: block, shown: [notification.id], merged: [], counted: [], filtered: [] },
  });
  expect(lines.filter((line) => line.includes(names.changed))).toHaveLength(2);
  expect(log.state.pending.isEmpty).toBe(true);

  // The model was shown the whole file, so equal bytes are not reported again; the user sees the block.
  const card = log.state.transcript.items.find((item) => item.type === 'tool' && item.name === 'run_command');
  expect(card).toMatchObject({ state: 'done', carried: { text: block, shown: 1, receipt: 'accepted' } });
  expect(headless.errors).toEqual([]);
});

function nextQueued(earshot: Earshot): Promise<Extract<LogEvent, { type: 'notification_queued' }>> {
  return new Promise((resolve) => {
    const listening = earshot.onDidChange(({ folded }) => {
      if (folded?.event.type !== 'notification_queued') return;
      listening.dispose();
      resolve(folded.event);
    });
  });
}
