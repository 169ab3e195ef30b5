// acpx, an independent client, drives whole tasks through the built agent; every line in both directions is checked
// against the official schema.
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startAcpx } from '../../support/acp/acpx.ts';
import { judgeWire } from '../../support/acp/wireJudge.ts';
import { type ScriptedAnswer } from '../../support/models/scriptedServer.ts';
import { isFull } from '../../support/runs.ts';

const end: ScriptedAnswer = { text: ['All', ' done.'] };
const call = (id: string, name: string, args: Record<string, unknown>): ScriptedAnswer => ({
  calls: [{ id, name, arguments: args }],
});
const write = call('w', 'write_file', { path: 'menu.txt', content: 'Tea.\n' });

type Acpx = Awaited<ReturnType<typeof startAcpx>>;

/** Fails if the schema does not allow a line. */
async function judgeAll({ wire }: Acpx): Promise<string> {
  const connections = await wire();
  expect(connections.flatMap((lines) => judgeWire(lines))).toEqual([]);
  const lines = connections.flat();
  expect(lines.length).toBeGreaterThan(5);
  return lines.map(({ line }) => line).join('\n');
}

const onPosix = test.skipIf(process.platform === 'win32');
/** Only in `npm run test:full`: `acp.test.ts` covers the same with our own client and the same schema check. */
const inFullRuns = test.runIf(isFull && process.platform !== 'win32');

onPosix('approve-all: the task is done; a file changed meanwhile is reported with the same call', async () => {
  const acpx = await startAcpx(
    call('r', 'read_file', { path: 'tea.txt' }),
    { ...write, text: ['I write', ' it.'], hang: true },
    call('c', 'run_command', { command: 'cat menu.txt' }),
    end,
  );
  const { folder, server, run, events } = acpx;
  await writeFile(join(folder, 'tea.txt'), 'green\n');
  const running = run('--approve-all', '--format', 'json', 'exec', 'Write the menu.');
  await server.request(1);
  await writeFile(join(folder, 'tea.txt'), 'black\n');
  await expect.poll(events).toContain('"notification_queued"');
  server.release();
  const { code, output } = await running;
  expect(code, output).toBe(0);
  expect(await readFile(join(folder, 'menu.txt'), 'utf8')).toBe('Tea.\n');
  const lines = (await judgeAll(acpx)).split('\n');
  const completed = lines.filter((line) => line.includes('"toolCallId":"w","status":"completed"'));
  expect(completed).toHaveLength(1);
  const model = JSON.parse(server.requests[2]?.body ?? '{}') as { messages: { role: string; content: string }[] };
  const delivered =
    model.messages.find(({ role, content }) => role === 'tool' && content.includes('+black'))?.content ?? '';
  const shown = JSON.parse(completed[0] ?? '') as {
    params: { update: { content: { content?: { text: string } }[] } };
  };
  const texts = shown.params.update.content.flatMap(({ content }) => (content === undefined ? [] : [content.text]));
  expect(texts.join('')).toContain('+black');
  // The client shows what the model got, except for the key, which only the model gets.
  expect(delivered.replace(/key="[^"]*"/g, '')).toContain(
    texts
      .at(-1)
      ?.trim()
      .replace(/key="[^"]*"/g, ''),
  );
  expect(lines.join('\n')).toContain('"toolCallId":"c","status":"completed"');
});

inFullRuns('deny-all: nothing is changed, and the model continues', async () => {
  const acpx = await startAcpx(write, end);
  const { output } = await acpx.run('--deny-all', '--format', 'json', 'exec', 'Write the menu.');
  expect(output).toContain('"stopReason":"end_turn"');
  expect(existsSync(join(acpx.folder, 'menu.txt'))).toBe(false);
  expect(await judgeAll(acpx)).toContain('"toolCallId":"w","status":"failed"');
});

inFullRuns('cancel: the turn ends in the middle of an answer, and the next prompt is answered', async () => {
  const acpx = await startAcpx({ text: ['I am', ' thinking'], hang: true }, end);
  const { run, server } = acpx;
  await run('sessions', 'new', '--name', 'one');
  const running = run('--format', 'json', 'prompt', '-s', 'one', 'Think.');
  await server.request(0);
  await expect.poll(async () => (await acpx.wire()).flat().some(({ line }) => line.includes('thinking'))).toBe(true);
  await run('cancel', '-s', 'one');
  expect((await running).output).toContain('"stopReason":"cancelled"');
  expect((await run('--format', 'quiet', 'prompt', '-s', 'one', 'Go on.')).output).toContain('All done.');
  await judgeAll(acpx);
});

inFullRuns('two sessions are separate; each is resumed by a new process', async () => {
  const acpx = await startAcpx(end, end, write, end, end);
  const { run, server, folder } = acpx;
  await run('sessions', 'new', '--name', 'one');
  await run('sessions', 'new', '--name', 'two');
  await run('prompt', '-s', 'one', 'First.');
  await run('prompt', '-s', 'two', 'Second.');
  expect((await run('--approve-all', 'prompt', '-s', 'one', 'Write.')).code).toBe(0);
  expect(await readFile(join(folder, 'menu.txt'), 'utf8')).toBe('Tea.\n');
  await expect.poll(async () => (await run('status', '-s', 'two')).output).toContain('status: idle');
  expect((await run('--format', 'quiet', 'prompt', '-s', 'two', 'Go on.')).output).toContain('All done.');
  const last = server.requests.at(-1)?.body ?? '';
  expect(last).toContain('Second.');
  expect(last).not.toContain('First.');
  expect((await run('sessions', 'list')).output.split('\n').filter((line) => line.includes(folder))).toHaveLength(2);
  expect(await judgeAll(acpx)).toContain('session/resume');
});

inFullRuns('mode and options are set by their names', async () => {
  const acpx = await startAcpx(write, end);
  const { run } = acpx;
  await run('sessions', 'new', '--name', 'one');
  expect((await run('set-mode', '-s', 'one', 'plan')).output).toContain('plan');
  expect((await run('set', '-s', 'one', 'approvals', 'edits')).output).toContain('approvals=edits');
  expect((await run('set', '-s', 'one', 'approvals', 'everything')).code).not.toBe(0);
  await judgeAll(acpx);
});

test('the schema check reports lines that the schema does not allow', () => {
  const update = (fields: object) =>
    JSON.stringify({
      jsonrpc: '2.0',
      method: 'session/update',
      params: { sessionId: 's', update: { sessionUpdate: 'tool_call', toolCallId: 'a', title: 'A', ...fields } },
    });
  const answer = (fields: object) => [
    {
      from: 'client' as const,
      line: '{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}',
    },
    { from: 'agent' as const, line: JSON.stringify({ jsonrpc: '2.0', id: 1, result: fields }) },
  ];
  const agent = (line: string) => [{ from: 'agent' as const, line }];
  expect(judgeWire([...agent(update({})), ...answer({ stopReason: 'end_turn' })])).toEqual([]);
  for (const wrong of [
    agent(update({ status: 'doing' })),
    agent(update({ content: [{ type: 'diff', path: '/a' }] })),
    agent('{"jsonrpc":"2.0","method":"session/fly","params":{}}'),
    agent('{"jsonrpc":"1.0","method":"session/update","params":{}}'),
    agent('{"jsonrpc":"2.0","id":1,"result":{}}'),
    answer({ stopReason: 'tired' }),
    answer({}),
  ])
    expect(judgeWire(wrong)).toHaveLength(1);
});
