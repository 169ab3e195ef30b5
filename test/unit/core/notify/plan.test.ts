// The plan of a delivery: which pending notifications are shown, merged, counted or filtered, within cap and token budget.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatBlock } from '../../../../src/core/agent/delivery.ts';
import { estimateTokens } from '../../../../src/core/conversation/tokens.ts';
import { type Outline } from '../../../../src/core/notify/outline.ts';
import { type Plan, planNotifications, tokenBudget } from '../../../../src/core/notify/plan.ts';
import { FORMATS } from '../../../../src/protocol/event.ts';
import { LEVELS, type Notification } from '../../../../src/protocol/notification.ts';
import { type Settings } from '../../../../src/protocol/settings.ts';
import { contextWindow, defaultSettings, pending, settings } from '../../../support/notify/arbitraryNotifications.ts';
import { runs } from '../../../support/runs.ts';

const key = 'k7QdQ8vXw2Lm9ZtY4nBs1A';
/** Late enough that all times are printed. */
const now = Date.UTC(2027, 0, 1);
type Format = (typeof FORMATS)[number];

function plan(
  queue: readonly Notification[],
  options: Partial<Settings> = {},
  format: Format = 'xml',
  window = 128_000,
): Plan {
  return planNotifications({
    pending: queue,
    settings: { ...defaultSettings, ...options },
    contextWindow: window,
    measure: (outline) => tokensOf(outline, format),
  });
}

function tokensOf(outline: Outline, format: Format): number {
  return estimateTokens(formatBlock(format, { plan: outline, key, now }));
}

let number = 0;
function notification(kind: string, more: Partial<Notification> = {}): Notification {
  const [source = '', name = ''] = kind.split('.');
  number += 1;
  return {
    id: `n${String(number).padStart(6, '0')}`,
    kind: { source, name },
    level: 'info',
    message: `message ${number}`,
    origin: 'host',
    at: new Date(Date.UTC(2026, 0, 1) + number * 1000).toISOString(),
    ...more,
  };
}

describe('for any pending notifications, settings and budgets', () => {
  test('each id is in exactly one list, counts add up, cap and budget hold, and the most severe is shown', () => {
    fc.assert(
      fc.property(
        pending(40),
        settings,
        contextWindow,
        fc.constantFrom(...FORMATS),
        (queue, chosen, window, format) => {
          const made = plan(queue, chosen, format, window);
          const { shown, merged, counted, filtered, entries, more, total } = made;
          expect([...shown, ...merged, ...counted, ...filtered].sort()).toEqual(queue.map(({ id }) => id));
          expect(entries.map(({ id }) => id)).toEqual(shown);
          expect(entries.reduce((sum, entry) => sum + entry.count, 0)).toBe(shown.length + merged.length);
          expect(more.reduce((sum, { count }) => sum + count, 0)).toBe(counted.length);
          expect(total).toBe(queue.length - filtered.length);
          expect(entries.length).toBeLessThanOrEqual(chosen['notifications.cap']);
          expect(tokensOf(made, format)).toBeLessThanOrEqual(tokenBudget(chosen, window));
          // The most severe is always shown, and entries are ordered by severity.
          expect(entries.length > 0).toBe(total > 0);
          const ranks = entries.map(({ level }) => LEVELS.indexOf(level));
          expect(ranks).toEqual([...ranks].sort((a, b) => b - a));
          for (const [index, entry] of entries.entries()) {
            const next = entries[index + 1];
            if (next?.level === entry.level) expect(entry.position).toBeLessThan(next.position);
          }
          const worst = Math.max(-1, ...made.entries.map(({ level }) => LEVELS.indexOf(level)));
          expect(queue.some((one) => effectiveLevel(one, made, chosen) > worst)).toBe(false);
        },
      ),
      { numRuns: runs(400, 2000) },
    );
  });

  test('the same input gives the same plan, and the input is not modified', () => {
    fc.assert(
      fc.property(pending(30), settings, (queue, chosen) => {
        const before = JSON.stringify(queue);
        expect(plan(queue, chosen)).toEqual(plan(structuredClone(queue), chosen));
        expect(JSON.stringify(queue)).toBe(before);
      }),
      { numRuns: runs(100, 300) },
    );
  });
});

/** The level of the newest notification of its kind and subject as a number; −1 if replaced or filtered. */
function effectiveLevel(one: Notification, made: Plan, chosen: Settings): number {
  const isNewest = made.shown.includes(one.id) || made.counted.includes(one.id);
  const replaced = one.subject !== undefined && made.counted.includes(one.id);
  if (!isNewest || replaced) return -1;
  return LEVELS.indexOf(chosen['notifications.levels'][`${one.kind.source}.${one.kind.name}`] ?? one.level);
}

test('notifications of the same kind and subject are merged: newest text and level, count and first time', () => {
  const queue = [
    notification('task.ended', { subject: 'task:build', message: 'exit code 1', level: 'error' }),
    notification('task.ended', { subject: 'task:lint' }),
    notification('task.ended', { subject: 'task:build', message: 'exit code 0', level: 'info' }),
  ];
  const made = plan(queue);
  expect(made.entries.map(({ message, level, count, first, id }) => ({ message, level, count, first, id }))).toEqual([
    { message: 'exit code 0', level: 'info', count: 2, first: queue[0]?.at, id: queue[2]?.id },
    { message: queue[1]?.message, level: 'info', count: 1, first: queue[1]?.at, id: queue[1]?.id },
  ]);
  expect([made.shown, made.merged]).toEqual([[queue[2]?.id, queue[1]?.id], [queue[0]?.id]]);
});

test('five notifications of a kind stay separate, six become one', () => {
  const files = (count: number) =>
    Array.from({ length: count }, (_, index) => notification('file.changed', { subject: `file:src/${index}.ts` }));
  expect(plan(files(5)).entries).toHaveLength(5);
  const [joined, ...none] = plan(files(6)).entries;
  expect(none).toEqual([]);
  expect(joined?.message).toBe('6 of file.changed:\nsrc/0.ts\nsrc/1.ts\nsrc/2.ts\nsrc/3.ts\nsrc/4.ts\nsrc/5.ts');
});

test('occurrences with a text of their own are not joined by their first lines: as many as fit are shown, the rest is counted', () => {
  const lines = Array.from({ length: 13 }, (_, index) =>
    notification('script.bell', { message: `A script sent this (data from outside):\n| bell ${index}` }),
  );
  const made = plan(lines);
  expect(made.entries.map(({ message }) => /\d+$/.exec(message)?.[0])).toEqual(
    Array.from({ length: 10 }, (_, index) => `${index}`),
  );
  expect(made.counted).toEqual(lines.slice(10).map(({ id }) => id));
  expect(made.merged).toEqual([]);
});

test('60 changed files are all named in less than 4,000 characters with the default budget', () => {
  const paths = Array.from(
    { length: 60 },
    (_, index) => `packages/component-library/src/components/form/field${index}/index.tsx`,
  );
  const queue = paths.map((path) =>
    notification('file.changed', {
      subject: `file:${path}`,
      level: 'warning',
      message: `${path} changed:\n${'+ line\n'.repeat(30)}`,
    }),
  );
  const made = plan(queue);
  const block = formatBlock('xml', { plan: made, key, now });
  expect(block).toContain('60 of file.changed, all in packages/component-library/src/components/form/:\n');
  const lines = block.replace(']]>', '\n').split('\n');
  for (const path of paths) expect(lines).toContain(path.split('/').slice(-2).join('/'));
  expect(block.length).toBeLessThan(4000);
  expect([made.shown.length, made.merged.length, made.counted.length]).toEqual([1, 59, 0]);
});

test('long paths are grouped by folder, and what still does not fit is counted', () => {
  const folder = 'a-folder-with-a-long-name/'.repeat(4);
  const queue = Array.from({ length: 60 }, (_, index) =>
    notification('file.changed', { subject: `file:${folder}${index}.ts` }),
  );
  const [below] = plan(queue).entries;
  expect(below?.message).toBe(
    `60 of file.changed, all in ${folder}:\n${queue.map((_, index) => `${index}.ts`).join('\n')}`,
  );
  const other = notification('file.changed', { subject: 'file:b.ts' });
  const [joined] = plan([...queue, other]).entries;
  expect(joined?.message).toBe(
    `61 of file.changed:\n${folder}: ${queue.map((_, index) => `${index}.ts`).join(', ')}\nb.ts`,
  );
  const apart = Array.from({ length: 60 }, (_, index) =>
    notification('file.changed', { subject: `file:${String(index).padStart(250, 'x')}` }),
  );
  const [cut] = plan(apart, { 'notifications.tokenBudget': 100_000 }, 'xml', 10_000_000).entries;
  expect(cut?.message.split('\n').at(-1)).toMatch(/^and \d+ more: read_notifications lists them\.$/);
});

/** 50 notifications that were queued one by one, and a summary of the others. */
function storm(paths: readonly string[]): Notification[] {
  const single = paths.slice(0, 50).map((path) => notification('file.changed', { subject: `file:${path}` }));
  const scopes = paths.slice(50).map((path) => `file:${path}`);
  const data = { summary: true, count: scopes.length };
  const message = `${scopes.length} of file.changed:\nand so on`;
  return [...single, notification('file.changed', { subject: 'many:file.changed', scopes, data, message })];
}

test('50 notifications and a summary of ten become one entry that names all 60', () => {
  const paths = Array.from({ length: 60 }, (_, index) => `src/part${index % 7}/file${index}.ts`);
  const made = plan(storm(paths));
  expect([made.total, made.entries.length]).toEqual([60, 1]);
  const block = formatBlock('xml', { plan: made, key, now: Date.UTC(2026, 0, 1) });
  for (const path of paths) expect(block).toMatch(new RegExp(`\\b${path.replace('src/', '')}(?:\\n|\\]\\])`));
  expect(block.length).toBeLessThan(4000);
  expect([made.shown.length, made.merged.length, made.counted.length]).toEqual([1, 50, 0]);
});

test.each([200, 1000, 10_000])(
  '%d changed files take less than 4,000 characters, by name or as counts by folder that add up',
  (count) => {
    for (const folder of ['src', 'packages/a-rather-long-name-of-a-package/src/components']) {
      const paths = Array.from({ length: count }, (_, index) => `${folder}/part${index % 23}/some-file-${index}.ts`);
      const made = plan(storm(paths), { 'notifications.tokenBudget': 100_000 }, 'xml', 10_000_000);
      const block = formatBlock('xml', { plan: made, key, now: Date.UTC(2026, 0, 1) });
      expect(block.length).toBeLessThan(4000);
      expect(made.total).toBe(count);
      expect(made.entries[0]?.message).toMatch(new RegExp(`^${count} of file.changed, all in ${folder}/:\n`));
      if (count < 1000) continue;
      const counts = [...(made.entries[0]?.message ?? '').matchAll(/^part\d+\/: (\d+)$/gm)].map(([, one]) =>
        Number(one),
      );
      expect(counts.reduce((sum, one) => sum + one, 0)).toBe(count);
    }
  },
);

test('a list that exceeds the budget becomes counts by folder instead of being cut', () => {
  const paths = Array.from({ length: 150 }, (_, index) => `src/part${index % 3}/some-file-with-a-name-${index}.ts`);
  const [entry] = plan(storm(paths), { 'notifications.tokenBudget': 300 }).entries;
  expect(entry?.message).toBe(
    '150 of file.changed, all in src/:\npart0/: 50\npart1/: 50\npart2/: 50\nread_notifications lists them.',
  );
});

test('of 1,000 folders with long names those with most files are counted, and the number of the others is given', () => {
  const paths = Array.from({ length: 1000 }, (_, index) => `${String(index).padStart(200, 'x')}/a.ts`);
  const [entry] = plan(storm(paths), { 'notifications.tokenBudget': 100_000 }, 'xml', 10_000_000).entries;
  expect(entry?.message.length).toBeLessThan(4000);
  expect(entry?.message.split('\n').at(-1)).toMatch(/^and those in \d+ more folders: read_notifications lists them\.$/);
});

test('ten entries are shown, and one line counts the rest by kind', () => {
  const queue = [
    ...Array.from({ length: 12 }, (_, index) => notification(`plugin.kind${index}`)),
    notification('task.ended', { level: 'error' }),
  ];
  const made = plan(queue);
  expect(made.shown).toEqual([queue[12]?.id, ...queue.slice(0, 9).map(({ id }) => id)]);
  expect(made.more).toEqual(['kind9', 'kind10', 'kind11'].map((name) => ({ kind: `plugin.${name}`, count: 1 })));
  expect(formatBlock('xml', { plan: made, key, now })).toContain(
    '<more>1 plugin.kind9, 1 plugin.kind10, 1 plugin.kind11: read_notifications lists them.</more>',
  );
});

test('of 3,000 kinds only the most frequent are named', () => {
  const queue = Array.from({ length: 3000 }, (_, index) => notification(`plugin.${'k'.repeat(90)}${index}`));
  const made = plan([
    ...queue,
    notification('plugin.often'),
    notification('plugin.often'),
    notification('plugin.often'),
  ]);
  const line = formatBlock('markdown', { plan: made, key, now }).split('\n').at(-3);
  expect(line).toMatch(
    /^And 3 plugin\.often, (1 plugin\.k{53}, ){7}\d+ of other kinds: read_notifications lists them\.$/,
  );
});

test('the most severe entry is cut, with a note, if it alone exceeds the budget', () => {
  const queue = [
    notification('task.ended', { level: 'error', message: '漢'.repeat(2000) }),
    notification('task.ended'),
  ];
  const made = plan(queue, { 'notifications.tokenBudget': 300 });
  expect(made.entries[0]?.message).toMatch(/^漢{50,}… \(cut here; read_notifications has it in full\)$/u);
  expect(made.shown[0]).toBe(queue[0]?.id);
});

describe('settings', () => {
  const queue = [
    notification('mcp.reconnected'),
    notification('terminal.failed'),
    notification('tool.waiting', { data: { tool: 'run_command' } }),
    notification('tool.waiting', { data: { tool: 'run_task' } }),
    notification('file.changed', { subject: 'file:dist/deep/a.js' }),
    notification('file.changed', { subject: 'file:src/a.ts' }),
    notification('diagnostics.introduced', { subject: 'x', scopes: ['file:dist/a.js'] }),
    notification('task.ended', { subject: 'file:dist/deep/a.js' }),
  ];
  const filtered = (options: Partial<Settings>) =>
    plan(queue, options).filtered.map((id) => queue.findIndex((one) => one.id === id));

  test.each<[string, Partial<Settings>, number[]]>([
    ['nothing', {}, []],
    ['one kind', { 'notifications.kinds': { mcp: { reconnected: false } } }, [0]],
    ['one source', { 'notifications.kinds': { terminal: { enable: false } } }, [1]],
    ['one tool', { tools: { run_command: { notifications: { waiting: false } } } }, [2]],
    ['ignored paths', { 'notifications.ignoredPaths': ['dist'] }, [4, 6]],
    ['ignored globs', { 'notifications.ignoredPaths': ['**/*.ts'] }, [5]],
    ['everything', { 'notifications.enable': false }, [0, 1, 2, 3, 4, 5, 6, 7]],
  ])('settings can filter %s', (_what, options, expected) => {
    expect(filtered(options)).toEqual(expected);
  });

  test('a kind with a raised level comes first', () => {
    const made = plan(queue, { 'notifications.levels': { 'task.ended': 'critical' } });
    expect(made.entries[0]).toMatchObject({ name: 'ended', level: 'critical' });
  });

  test.each([
    [4000, 1500, 300],
    [32_000, 1500, 640],
    [128_000, 1500, 1500],
    [128_000, 400, 400],
  ])('a context window of %i and a budget of %i allow %i tokens', (window, budget, expected) => {
    expect(tokenBudget({ ...defaultSettings, 'notifications.tokenBudget': budget }, window)).toBe(expected);
  });
});
