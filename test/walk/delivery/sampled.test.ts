// State sampled at delivery points: configuration and budget, each change reported once and only if it still holds.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createBudgetProducer } from '../../../src/producers/budget.ts';
import { createConfigProducer } from '../../../src/producers/config.ts';
import { readSettings, type SettingName } from '../../../src/protocol/settings.ts';
import { atTestEnd } from '../../support/endings.ts';
import { type ScriptedAnswer } from '../../support/models/scriptedServer.ts';
import { headChanged, publish, streamed } from '../../support/walk/deliveryWalks.ts';
import { beginWalk, type Walked, type WalkOptions } from '../../support/walk/walking.ts';

const listing = (id: string): ScriptedAnswer => ({ calls: [{ id, name: 'list_files', arguments: {} }] });
const end: ScriptedAnswer = { text: ['Done.'] };

async function begin(
  answers: readonly ScriptedAnswer[],
  options: WalkOptions = {},
): Promise<Walked & { set(name: SettingName, value: unknown): void }> {
  const values = new Map<string, unknown>();
  const walked = await beginWalk(answers, {
    ...options,
    ports: {
      producers: [createConfigProducer(), createBudgetProducer()],
      settings: () => readSettings((name) => values.get(name) ?? options.settings?.[name]).settings,
    },
  });
  return { ...walked, set: (name, value) => values.set(name, value) };
}

const carried = ({ messages }: Walked, request: number) => JSON.stringify(messages(request).at(-1));

test('a changed mode is reported in one line with the next request', async () => {
  const walked = await begin([end, end, end]);
  await walked.go();
  walked.set('mode', 'plan');
  await walked.go();
  expect(carried(walked, 1)).toMatch(
    /config.*changed.*Since your last answer: the mode is plan \(it was agent\): only calls that read are run/,
  );
  await walked.go();
  expect(carried(walked, 2)).not.toContain('notification');
});

test('a mode changed before *Deliver now* or before an interruption is reported with that request', async () => {
  const walked = await begin([end, end, { text: ['I am', ' almost'], hang: true }, end, end]);
  const { earshot } = walked.headless;
  await walked.go();
  await publish(walked, headChanged('switched to main'));
  walked.set('mode', 'plan');
  expect(await earshot.deliverNow(walked.id)).toMatchObject({ ok: true });
  await earshot.settled(walked.id);
  expect(carried(walked, 1)).toMatch(/the mode is plan \(it was agent\)/);
  await earshot.send(walked.id, 'Go on.');
  await streamed(walked, 'almost');
  walked.set('mode', 'agent');
  expect(await earshot.interrupt(walked.id, 'Wait.')).toMatchObject({ ok: true });
  await earshot.settled(walked.id);
  expect(carried(walked, 3)).toMatch(/the mode is agent \(it was plan\).*Wait\./);
  await walked.go();
  expect(carried(walked, 4)).not.toContain('notification');
});

test('a mode changed and changed back is not reported', async () => {
  const walked = await begin([end, end]);
  await walked.go();
  walked.set('mode', 'plan');
  walked.set('mode', 'agent');
  await walked.go();
  expect(carried(walked, 1)).not.toContain('notification');
});

test('changing back after a failed request that reported the change is reported too', async () => {
  const walked = await begin([end, { refuse: { status: 400, message: 'no' } }, end]);
  await walked.go();
  walked.set('mode', 'plan');
  await walked.go();
  expect(carried(walked, 1)).toContain('the mode is plan');
  walked.set('mode', 'agent');
  await walked.go();
  expect(JSON.stringify(walked.messages(2))).toContain('the mode is agent (it was plan)');
});

test('instructions changed during a turn are in force from the next request on, which reports the change', async () => {
  const walked = await begin([
    { calls: [{ id: 'a', name: 'run_command', arguments: { command: 'true' } }] },
    listing('b'),
    end,
  ]);
  const file = join(walked.headless.folder, 'AGENTS.md');
  await writeFile(file, 'Use tabs.\nSpeak softly.\n');
  walked.headless.frontend.answer = async () => {
    await writeFile(file, 'Use tabs.\nSpeak loudly.\n');
    return { action: 'approve', by: 'user' };
  };
  await walked.go();
  expect(texts(walked)).toEqual([
    'Instructions from AGENTS.md, changed (+1 −1):\n@@ -1,2 +1,2 @@\n Use tabs.\n-Speak softly.\n+Speak loudly.',
  ]);
  expect(carriedText(walked, 'a')).toContain('Since your last answer: instructions changed');
});

/** The instructions that came after the prompt, oldest first. */
const texts = ({ log }: Walked) =>
  log.state.messages.all.flatMap((message) => (message.role === 'assistant' ? [] : (message.queued ?? [])));

const carriedText = ({ log }: Walked, call: string) =>
  log.state.messages.all.flatMap((one) => (one.role === 'tool' && one.call === call ? [one.block?.text] : []))[0];

test('an instruction file that the agent edits, creates or deletes takes effect in the same turn', async () => {
  const write = (id: string, path: string, content: string): ScriptedAnswer => ({
    calls: [{ id, name: 'write_file', arguments: { path, content } }],
  });
  const walked = await begin(
    [
      write('a', 'AGENTS.md', 'Speak softly.\n'),
      write('b', 'AGENTS.md', 'Speak loudly.\n'.repeat(500)),
      { calls: [{ id: 'c', name: 'delete_file', arguments: { path: 'AGENTS.md' } }] },
      end,
    ],
    { settings: { 'approvals.mode': 'edits' } },
  );
  await walked.go();
  const [created, replaced, ...others] = texts(walked);
  expect(created).toBe('Instructions from AGENTS.md:\nSpeak softly.');
  expect(replaced).toMatch(/^Instructions from AGENTS\.md, changed\. This replaces what they were:\nSpeak loudly\./);
  expect(others).toEqual([]);
  expect(carriedText(walked, 'c')).toContain('instructions no longer in force: AGENTS.md');
});

test('a change of an instruction file during a restart is reported with the next request', async () => {
  const walked = await begin([listing('a'), end, end]);
  const file = join(walked.headless.folder, 'AGENTS.md');
  walked.headless.frontend.answer = async () => ({ action: 'approve', by: 'user' });
  await walked.go();
  await writeFile(file, 'Speak softly.');
  await walked.go();
  const again = await walked.headless.restart();
  atTestEnd(() => again.end());
  await writeFile(file, 'Speak loudly.');
  const opened = await again.earshot.open(walked.id);
  if (!opened.ok) throw new Error(opened.failure.message);
  await again.earshot.send(walked.id, 'Go on.');
  await again.earshot.settled(walked.id);
  expect(texts({ ...walked, log: opened.value.log }).at(-1)).toContain('-Speak softly.\n+Speak loudly.');
});

test('a context window that fills up is reported once at 60 % and once at 80 %', async () => {
  const counted = [5000, 6500, 7000, 8500, 8800].map((input, index) => ({
    ...listing(`c${index}`),
    usage: { prompt_tokens: input, completion_tokens: 10 },
  }));
  const walked = await begin([...counted, end], { modelOptions: { contextWindow: 10_000 } });
  await walked.go();
  const delivered = (await walked.headless.events(walked.id))
    .split('\n')
    .filter((line) => line.includes('"notification_queued"'))
    .map((line) => (JSON.parse(line) as { notification: { level: string; message: string } }).notification)
    .map(({ level, message }) => `${level} ${message.split(' (')[0] ?? ''}`);
  expect(delivered).toEqual([
    expect.stringMatching(/^info The context window is 6\d % full$/),
    expect.stringMatching(/^warning The context window is 8\d % full$/),
  ]);
});

test('a rate-limiting endpoint is reported once, with the next result', async () => {
  const limited: ScriptedAnswer = { refuse: { status: 429, message: 'slow down' } };
  const walked = await begin([limited, limited, listing('a'), listing('b'), end]);
  await walked.go();
  const last = walked.server.requests.at(-1)?.body ?? '';
  expect(last.match(/The endpoint asked 2 times to slow down/g)).toHaveLength(1);
});
