// An editor that is killed in the middle of an answer: what was shown is kept as a truncated answer.
import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { type Model, type ModelPart } from '../../../src/core/ports/ports.ts';
import { createManualClock } from '../../support/manualClock.ts';
import { streamed } from '../../support/walk/deliveryWalks.ts';
import { startHeadless } from '../../support/walk/headless.ts';
import { value } from '../../support/walk/reviewing.ts';
import { beginWalk, type Walked } from '../../support/walk/walking.ts';

const partialOf = ({ headless, id }: Walked) => join(headless.storage, 'conversations', id, 'partial.jsonl');
const textOf = (path: string) => readFile(path, 'utf8').catch(() => '');

/** A walk whose model has sent this and is silent, after the text was stored. */
async function streaming(...text: string[]) {
  const walked = await beginWalk([{ reasoning: ['Hm.'], text, hang: true }]);
  await value(walked.headless.earshot.send(walked.id, 'Go.'));
  await streamed(walked, text.at(-1));
  walked.clock.advance(1000);
  await expect.poll(() => textOf(partialOf(walked))).toContain(text.at(-1));
  return walked;
}

/** Closes the log first, as when the window is killed: nothing about the end gets into it. */
async function kill(walked: Walked) {
  await walked.log.closeFile();
  const again = await walked.headless.restart();
  await again.earshot.open(walked.id);
  const log = again.earshot.get(walked.id)?.log;
  if (log === undefined) throw new Error('not open');
  return { again, log };
}

test('the shown text of an answer survives a kill, and the model gets it with the next request', async () => {
  const walked = await streaming('Half an ', 'answer');
  const { again, log } = await kill(walked);
  expect(log.state.messages.all.at(-1)).toMatchObject({ role: 'assistant', content: 'Half an answer' });
  expect(log.state.turn.isOpen).toBe(false);
  await expect.poll(() => textOf(partialOf(walked))).toBe('');
  walked.server.restart({ text: ['The rest.'] });
  await again.earshot.send(walked.id, 'Go on.');
  await again.earshot.settled(walked.id);
  expect(walked.server.requests.at(-1)?.body).toContain('Half an answer');
  await again.end();
});

test('a damaged file keeps the parts before the damage; an answer that is in the log is not added again', async () => {
  const walked = await streaming('First. ');
  const path = partialOf(walked);
  await writeFile(path, `${await textOf(path)}{"id":"01`);
  const { again, log } = await kill(walked);
  expect(log.state.messages.all.filter(({ role }) => role === 'assistant')).toMatchObject([{ content: 'First. ' }]);
  const stored = await textOf(join(dirname(path), 'events.jsonl'));
  const answer = stored.split('\n').find((line) => line.includes('"chat_response"')) ?? '';
  const { event_id: id } = JSON.parse(answer) as { event_id: string };
  await log.append({ type: 'turn_started', source: 'user' });
  await writeFile(path, `${JSON.stringify({ id, model: 'm', text: 'First. ', reasoning: '' })}\n`);
  await log.closeFile();
  const third = await again.restart();
  await third.earshot.open(walked.id);
  const answers = third.earshot.get(walked.id)?.log.state.messages.all.filter(({ role }) => role === 'assistant');
  expect(answers).toHaveLength(1);
  await third.end();
});

test('a quick answer writes nothing beside the log', async () => {
  const walked = await beginWalk([{ text: ['Yes.'] }]);
  await walked.go();
  expect(await textOf(partialOf(walked))).toBe('');
});

/** A model that streams what it is given, when it is given. */
function drivenModel() {
  let next = Promise.withResolvers<ModelPart>();
  const model: Model = {
    ...{ id: 'driven', label: 'Driven', detail: 'in a test', contextWindow: 100_000 },
    // Prevents title requests.
    ruleBased: true,
    stream: async function* () {
      for (;;) {
        const part = await next.promise;
        next = Promise.withResolvers();
        yield part;
        if (part.type === 'finished') return;
      }
    },
  };
  return { model, give: (part: ModelPart) => next.resolve(part) };
}

test('of an answer that streams for long, what was added is written once in a second, and never twice', async () => {
  const clock = createManualClock();
  const { model, give } = drivenModel();
  const headless = await startHeadless({ model, ports: { clock, producers: [] } });
  const { log } = await value(headless.earshot.create());
  if (log.partial === undefined) throw new Error('the log has no file');
  const written = vi.spyOn(log.partial, 'add');
  const texts = () => written.mock.calls.map(([{ text }]) => text);
  await value(headless.earshot.send(log.id, 'Go.'));
  const chunk = async (text: string) => {
    const shown = headless.frontend.nextDrawn('answer_text');
    give({ type: 'text', text });
    await shown;
  };
  // A chunk every 333 ms: the first three are in the second of the first one.
  for (const text of ['a', 'b', 'c', 'd']) {
    await chunk(text);
    if (text !== 'd') clock.advance(333);
  }
  expect(texts()).toEqual([]);
  clock.advance(1);
  expect(texts()).toEqual(['abcd']);
  // Without anything new nothing is written.
  clock.advance(5000);
  expect(texts()).toEqual(['abcd']);
  // The second begins with the first chunk that is not written yet.
  await chunk('e');
  clock.advance(999);
  await chunk('f');
  expect(texts()).toEqual(['abcd']);
  clock.advance(1);
  expect(texts()).toEqual(['abcd', 'ef']);
  await chunk('g');
  give({ type: 'finished' });
  await headless.earshot.settled(log.id);
  clock.advance(5000);
  // The answer is in the log.
  expect(texts()).toEqual(['abcd', 'ef']);
  expect(log.state.messages.all.at(-1)).toMatchObject({ role: 'assistant', content: 'abcdefg' });
  await headless.end();
});
