// Compaction: a summary that reads the endpoint's cache, results that are dropped first, and /compact with a focus.
import { expect, test } from 'vitest';
import { type ModelPart, type ModelRequest } from '../../../src/core/ports/ports.ts';
import { prefixBreak } from '../../../src/core/prompt/promptState.ts';
import { createScriptedModel } from '../../support/models/scriptedModel.ts';
import { beginPrefixWalk, call, type PrefixWalk } from '../../support/walk/prefixWalks.ts';

/** Answers requests for summaries, which are recorded apart; other requests are scripted. */
async function begin(options: { readonly window?: number; readonly refuse?: (request: ModelRequest) => boolean } = {}) {
  const summaries: ModelRequest[] = [];
  const base = createScriptedModel();
  const asked = ({ messages, system }: ModelRequest) =>
    /Goal: what the user wants/.test(`${messages.at(-1)?.content ?? ''}${system}`);
  const refused: ModelPart = { type: 'failed', failure: { code: 'context_overflow', message: 'too long' } };
  async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelPart> {
    if (!asked(request)) {
      yield* base.stream(request, signal);
      return;
    }
    summaries.push(request);
    if (options.refuse?.(request) === true) {
      yield refused;
      return;
    }
    yield { type: 'text', text: `Goal: tea, as summary ${summaries.length}.` };
    yield { type: 'finished' };
  }
  const walk = await beginPrefixWalk({
    model: { ...base, stream, ruleBased: undefined as never, contextWindow: options.window ?? 128_000 },
  });
  // Titles are asked aside too.
  await walk.log.append({ type: 'title_set', title: 'Named' });
  return Object.assign(walk, { base, summaries });
}

async function compactNow(walk: PrefixWalk, text: string) {
  expect(await walk.headless.earshot.send(walk.id, text)).toMatchObject({ ok: true });
  await walk.headless.earshot.settled(walk.id);
}

test('/compact with a focus extends the last request, wants no call, and the next request has a new prefix', async () => {
  const walk = await begin();
  await walk.put('AGENTS.md', 'Rule one.');
  await walk.put('pkg/AGENTS.md', 'Nested rule.');
  await walk.put('pkg/a.ts', 'export {};\n');
  await walk.go('Read it.', call('a', 'read_file', { path: 'pkg/a.ts' }), { text: 'Read.' });
  for (let round = 0; round < 6; round++) await walk.go('More.');
  await walk.put('AGENTS.md', 'Rule two.');
  await compactNow(walk, '/compact the names of the teas');
  const [summary] = walk.summaries;
  const last = walk.base.requests.at(-1);
  if (summary === undefined || last === undefined) throw new Error('no request');
  expect(prefixBreak(last, summary)).toBeUndefined();
  expect(summary.allowed).toBe('none');
  expect(summary.messages.at(-1)?.content).toMatch(/keep above all: the names of the teas$/);
  expect(walk.notices).toContainEqual(expect.stringContaining('The conversation is compacted'));
  await walk.go('And now?');
  const next = walk.base.requests.at(-1);
  expect(next?.system).toContain('Rule two.');
  expect(next?.system).not.toContain('Nested rule.');
  const [first] = next?.messages ?? [];
  expect(first?.content).toContain('Goal: tea, as summary 1.');
  expect(first?.role === 'user' && first.queued).toEqual([expect.stringContaining('Nested rule.')]);
  // What the new prompt says is not announced again.
  expect(JSON.stringify(next?.messages.slice(1))).not.toContain('instructions changed');
});

test('/compact is refused while a turn runs and in an empty conversation, and other texts are not taken for it', async () => {
  const walk = await begin();
  expect(await walk.headless.earshot.send(walk.id, '/compact')).toMatchObject({ ok: false });
  await walk.go('/compactor is a file');
  expect(walk.base.requests.at(-1)?.messages.at(-1)?.content).toBe('/compactor is a file');
});

test('if the conversation is too long for the model, the summary is made of its text', async () => {
  const walk = await begin({ refuse: ({ tools }) => tools.length > 0 });
  await walk.go('Hello.');
  await walk.go('More.');
  await compactNow(walk, '/compact');
  expect(walk.summaries).toHaveLength(2);
  expect(walk.summaries[1]?.tools).toEqual([]);
  expect(walk.summaries[1]?.messages[0]?.content).toContain('[User]\nHello.');
  await walk.go('Next.');
  expect(walk.base.requests.at(-1)?.messages[0]?.content).toContain('summary 2');
});

test('a full window first loses old results, without a model call, and the files count as no longer shown', async () => {
  const walk = await begin({ window: 20_000 });
  for (let index = 0; index < 18; index++) await walk.put(`big${index}.txt`, `word ${index} `.repeat(500));
  const reads = Array.from({ length: 18 }, (_, index) => call(`r${index}`, 'read_file', { path: `big${index}.txt` }));
  await walk.go('Read all.', ...reads, { text: 'Read.' });
  const dropped = walk.log.state.messages.all.filter(({ content }) => content.startsWith('(This result of'));
  expect(dropped.length).toBeGreaterThan(0);
  expect(walk.log.state.seen.get('big0.txt')?.compacted).toBe(true);
  expect(walk.log.state.seen.get('big17.txt')?.compacted).toBeUndefined();
  expect(walk.summaries).toEqual([]);
  expect(walk.log.state.messages.all[0]?.content).toBe('Read all.');
  await walk.restart();
  expect(walk.log.state.messages.all.filter(({ content }) => content.startsWith('(This result of'))).toEqual(dropped);
});
