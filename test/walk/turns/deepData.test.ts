// Outside data that is nested too deeply is refused with a message; the turn continues and the log has no gap.
import { expect, test } from 'vitest';
import { FailureError } from '../../../src/base/errors.ts';
import { type LogEvent } from '../../../src/protocol/event.ts';
import { atTestEnd } from '../../support/endings.ts';
import { parseLines } from '../../support/log/logOracle.ts';
import { createScriptedModel, type ModelAnswer, type ScriptedModel } from '../../support/models/scriptedModel.ts';
import { type Headless, startHeadless } from '../../support/walk/headless.ts';

const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
const deep = nested(8000);

async function begin(
  ...answers: readonly ModelAnswer[]
): Promise<{ headless: Headless; model: ScriptedModel; id: string }> {
  const model = createScriptedModel(...answers);
  const headless = await startHeadless({ model, ports: { producers: [] } });
  atTestEnd(() => headless.end());
  const opened = await headless.earshot.create();
  if (!opened.ok) throw new Error(opened.failure.message);
  return { headless, model, id: opened.value.log.id };
}

async function say({ earshot }: Headless, id: string, options: object = {}): Promise<void> {
  const sent = await earshot.send(id, 'Go.', options);
  if (!sent.ok) throw new FailureError(sent.failure);
  await earshot.settled(id);
}

/** The events of the log, checked to be numbered without a gap and to open without damage. */
async function wholeLog({ earshot, events }: Headless, id: string): Promise<LogEvent[]> {
  const found = parseLines(await events(id));
  expect(found.map(({ seq }) => seq)).toEqual(found.map((_, index) => index + 1));
  await earshot.close(id);
  const reopened = await earshot.open(id);
  expect(reopened.ok && reopened.value.damage).toEqual([]);
  return found;
}

test.each([8000, 20_000, 101])(
  'arguments nested %i levels deep are refused with an error result, and the model continues',
  async (levels) => {
    const { headless, model, id } = await begin({ calls: [{ id: 'a', name: 'read_file', arguments: nested(levels) }] });
    await say(headless, id);
    const events = await wholeLog(headless, id);
    const [response] = events.filter((event) => event.type === 'tool_call_response');
    expect(response).toMatchObject({ id: 'a', is_error: true });
    expect(response?.content).toBe(
      'read_file was not run: its arguments are nested deeper than 100 levels. Call it again with flatter ones.',
    );
    expect(events.at(-1)).toMatchObject({ type: 'turn_ended', outcome: 'done' });
    // The model reads its call again exactly as it wrote it.
    const again = model.requests[1]?.messages[1];
    expect(again?.role === 'assistant' && again.calls[0]?.arguments === nested(levels)).toBe(true);
    expect(headless.errors).toEqual([]);
  },
);

test('arguments nested 100 levels deep are accepted', async () => {
  const { headless, id } = await begin({ calls: [{ id: 'a', name: 'read_file', arguments: nested(100) }] });
  await say(headless, id);
  const [response] = (await wholeLog(headless, id)).filter((event) => event.type === 'tool_call_response');
  expect(response?.content).toMatch(/^read_file was not run: .*path/);
});

test('arguments that the user nested too deeply reopen the approval', async () => {
  const { headless, id } = await begin({ calls: [{ id: 'a', name: 'run_command', arguments: { command: 'echo 1' } }] });
  const answers = [
    { action: 'modify' as const, arguments: JSON.parse(deep) as Record<string, unknown>, by: 'user' },
    { action: 'reject' as const, by: 'user' },
  ];
  headless.frontend.answer = async () => answers.shift() ?? { action: 'reject', by: 'user' };
  await say(headless, id);
  expect(headless.frontend.asked.map(({ problem }) => problem)).toEqual([
    undefined,
    'arguments: nested deeper than 100 levels.',
  ]);
  await wholeLog(headless, id);
});

test('a structured answer nested too deeply does not match its schema', async () => {
  const { headless, model, id } = await begin({ text: deep }, { text: '{"a":1}' });
  await say(headless, id, { schema: { type: 'object' } });
  const events = await wholeLog(headless, id);
  expect(model.requests).toHaveLength(2);
  expect(events.filter((event) => event.type === 'chat_response').map(({ data }) => data)).toEqual([
    undefined,
    { a: 1 },
  ]);
});

test('a schema nested too deeply is refused before the turn starts', async () => {
  const { headless, id } = await begin();
  const schema = JSON.parse(nested(150)) as Record<string, unknown>;
  await expect(say(headless, id, { schema })).rejects.toThrow('schema: it cannot be used: it is nested deeper');
  await wholeLog(headless, id);
});

test('a notification whose data cannot be written is refused, and the next one gets its number', async () => {
  const { headless, id } = await begin();
  const draft = (data: Record<string, unknown>) => ({
    kind: { source: 'plugin', name: 'said' },
    level: 'info' as const,
    message: 'Something.',
    origin: 'plugin' as const,
    at: '2026-01-02T03:04:05.000Z',
    data,
  });
  const itself: Record<string, unknown> = {};
  itself['self'] = itself;
  const { log } = headless.earshot.get(id) ?? {};
  for (const data of [JSON.parse(deep) as Record<string, unknown>, itself, { big: 1n }]) {
    const queued = log?.append({ type: 'notification_queued', notification: { ...draft(data), id: 'n' } });
    await expect(queued).rejects.toThrow();
  }
  await log?.append({ type: 'notification_queued', notification: { ...draft({ fine: true }), id: 'n' } });
  expect((await wholeLog(headless, id)).map(({ type }) => type)).toEqual([
    'conversation_started',
    'notification_queued',
  ]);
});
