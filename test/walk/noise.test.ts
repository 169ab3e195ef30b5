// Replays an hour of ordinary work recorded in the editor, and checks which notifications the model gets, with the
// reason for each.
import { expect, test } from 'vitest';
import { failed, type Result, succeeded } from '../../src/base/errors.ts';
import { defined } from '../../src/base/json/defined.ts';
import { findOrigins } from '../../src/core/consent/textOrigins.ts';
import { OutsideTexts } from '../../src/core/conversation/outside/outsideTexts.ts';
import { Pending } from '../../src/core/conversation/projections/pending.ts';
import { NotificationUse } from '../../src/core/frontend/notificationUse.ts';
import { type FilePath, type Workspace } from '../../src/core/ports/workspace.ts';
import { costsOf } from '../noise/cost.ts';
import { playHour, recording } from '../noise/playHour.ts';
import { elementsIn, printTable, shownIn, tokensIn } from '../noise/table.ts';
import { shippedTools } from '../support/shippedTools.ts';

/** The intervals of the user's messages, with which notifications are delivered. The table shows the first interval. */
const MINUTES = [10, 20, 60];
/** Shorter intervals deliver more, such as a failed build and its fix. Their results are printed but not limited. */
const OFTEN = [5, 2];

/** What the model needs of the hour if the user writes every ten minutes: what of its files changed, and what failed. */
const RELEVANT = [
  /^src\/orders\.ts changed/,
  /^Git switched from feature to main\. .*test\/orders\.test\.js/,
  /^Git pulled into main .*src\/receipt\.ts/,
  /^package\.json changed/,
  /^README\.md changed/,
  /^Git merged feature into main .*src\/menu\.ts/,
  /^The task “build” ended with exit code 2/,
  /^The task “build” ended with exit code 0/,
  /^src\/prices\.ts changed/,
  /^Git switched from main to feature\. .*src\/menu\.ts, src\/orders\.ts, src\/prices\.ts/,
];

test('at most 8 notifications in 800 tokens are shown, none about dist, the formatter or equal bytes, and nothing relevant is missed', async () => {
  const all: Awaited<ReturnType<typeof playHour>>[] = [];
  for (const minutes of [...MINUTES, ...OFTEN]) all.push(await playHour({ minutes }));
  const [first] = all;
  if (first === undefined) throw new Error('nothing was replayed');
  const table = printTable(recording, first, [
    `${recording.length} facts of an hour in the editor.`,
    ...all.map(
      ({ events, minutes }) =>
        `The user writes every ${minutes} minutes: ${shownIn(events).length} shown in ${elementsIn(events)} notifications and ${tokensIn(events)} tokens.`,
    ),
  ]);
  await expect(table).toMatchFileSnapshot('noise/table.golden.txt');
  expect(table).not.toContain('NO REASON');
  for (const { events, minutes, steps, errors } of all) {
    expect(errors).toEqual([]);
    const shown = shownIn(events).map(({ id, message }) => ({ id, line: message.split('\n')[0] ?? '' }));
    const rows = shown.map(({ id, line }) => `${steps.get(id)?.label ?? ''} | ${line}`);
    expect(rows.filter((row) => /dist\/|node_modules|formatter|equal bytes/.test(row))).toEqual([]);
    if (minutes === 10) {
      const missed = RELEVANT.filter((one) => !shown.some(({ line }) => one.test(line)));
      expect(missed).toEqual([]);
    }
    if (OFTEN.includes(minutes)) continue;
    expect(elementsIn(events)).toBeLessThanOrEqual(8);
    expect(tokensIn(events)).toBeLessThanOrEqual(800);
  }
});

test('what a model did with the notifications of the hour that reads again what has changed, and one that does nothing', async () => {
  const tables: string[] = [];
  for (const [model, readsAgain] of Object.entries({ 'reads changed files again': true, 'only lists files': false })) {
    const { events, errors } = await playHour({ minutes: 10, readsAgain });
    expect(errors).toEqual([]);
    const use = new NotificationUse();
    for (const event of events) use.fold(event);
    const rows = use.kinds.map(
      (one) =>
        `${one.source}.${one.name} | ${one.delivered} | ${one.tokens} | ${one.used} of ${one.followed} | ${one.read} | ${one.edited} | ${one.ran} | ${one.answered} | ${one.refused}`,
    );
    const head = 'kind | delivered | tokens | used | read | edited | ran | answered | refused edits';
    tables.push(`The user writes every 10 minutes; the model ${model}.`, head, ...rows, '');
    const shown = use.kinds.reduce((sum, { delivered }) => sum + delivered, 0);
    expect(shown).toBe(shownIn(events).length);
    expect(use.kinds.reduce((sum, { used }) => sum + used, 0) > 0).toBe(readsAgain);
  }
  await expect(tables.join('\n')).toMatchFileSnapshot('noise/use.golden.txt');
});

test('no command and no file that the person of the hour writes has a mark, as if the model had written it', async () => {
  const { events } = await playHour({ minutes: 2 });
  const texts = new OutsideTexts(shippedTools);
  const pending = new Pending();
  for (const event of events) {
    texts.fold(event, (id) => pending.newest(id));
    pending.fold(event);
  }
  const resolve = async (path: string): Promise<Result<FilePath>> =>
    path.startsWith('/') && !path.startsWith('/shop/')
      ? failed('outside', path)
      : succeeded({ path, absolute: `/shop/${path}` });
  const deps = { workspace: { resolve } as Workspace, shell: 'bash' as const, ofUser: [] };
  const calls = recording.flatMap((entry): { readonly command?: string; readonly content?: string }[] => {
    if (entry.type === 'command') return [{ command: entry.command.commandLine }];
    return 'text' in entry && typeof entry.text === 'string' ? [{ content: entry.text }] : [];
  });
  expect(calls.length).toBeGreaterThan(30);
  expect(texts.received.length).toBeGreaterThan(0);
  for (const values of calls) {
    expect(
      await findOrigins(deps, { values, touched: defined({ command: values.command }) }, [{ texts }]),
      JSON.stringify(values),
    ).toEqual([]);
  }
});

test('the vendors’ caches make the hour of a user who writes every two minutes at least five times cheaper', async () => {
  const { sent } = await playHour({ minutes: 2 });
  for (const { model, cached, uncached } of costsOf(sent)) {
    const dollars = `${cached.toFixed(3)} dollars with the cache, ${uncached.toFixed(3)} without`;
    process.stdout.write(`${model}: ${sent.length} requests of the hour cost ${dollars}.\n`);
    expect(cached).toBeGreaterThan(0);
    expect(uncached / cached, dollars).toBeGreaterThan(5);
  }
});
