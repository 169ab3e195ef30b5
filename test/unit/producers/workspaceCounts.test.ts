// One line of counts of the files that nobody has read: when it is worth a word, and what it leaves out.
import { expect, test } from 'vitest';
import { type DeliveryPoint } from '../../../src/core/producerPorts.ts';
import { type Exclusions } from '../../../src/producers/exclusions.ts';
import { GitGate } from '../../../src/producers/gitGate.ts';
import { WorkspaceCounts } from '../../../src/producers/workspaceCounts.ts';
import { createManualClock } from '../../support/manualClock.ts';

const LIVE = { ids: () => ['one', 'two'], callsSince: () => [] };

function begin() {
  const clock = createManualClock();
  const gate = new GitGate();
  const asked: string[] = [];
  const exclusions: Exclusions = {
    excludes: async (path) => {
      asked.push(path);
      return path.startsWith('dist/') || path.endsWith('.log');
    },
    touched: () => undefined,
  };
  const isSeen = (path: string) => path === 'seen.ts';
  const counts = new WorkspaceCounts({ clock, gate, exclusions, isSeen, live: LIVE as never });
  const sample = async (conversation: string, type: DeliveryPoint['type'] = 'request', carries = false) => {
    clock.advance(1);
    const [told] = await counts.sample({ conversation, type, carries } as DeliveryPoint);
    return told?.draft?.message;
  };
  const touch = (type: 'created' | 'changed' | 'deleted', ...paths: string[]) => {
    clock.advance(1);
    for (const path of paths) counts.touched(path, type);
  };
  return { clock, gate, sample, touch, asked };
}

test('a few with other bytes wait for more, and are counted then', async () => {
  const { sample, touch } = begin();
  touch('changed', 'src/a.ts', 'src/b.ts', 'c.ts', 'src/d.ts', 'seen.ts');
  expect(await sample('one')).toBeUndefined();
  touch('changed', 'src/e.ts');
  expect(await sample('one')).toBe('Other files of the workspace meanwhile: 5 changed (src/ 4, at the top 1).');
  expect(await sample('one')).toBeUndefined();
  // The other was told nothing yet.
  expect(await sample('two')).toMatch(/5 changed/);
});

test.each(['created', 'deleted'] as const)(
  'one that was %s is told at once, with the changed ones that waited',
  async (type) => {
    const { sample, touch } = begin();
    touch('changed', 'src/a.ts');
    expect(await sample('one')).toBeUndefined();
    touch(type, 'src/b.ts');
    expect(await sample('one')).toBe(`Other files of the workspace meanwhile: 1 changed, 1 ${type} (src/ 2).`);
  },
);

test('with a tool’s result only beside something else', async () => {
  const { sample, touch } = begin();
  touch('created', 'src/a.ts');
  expect(await sample('one', 'result')).toBeUndefined();
  expect(await sample('one', 'result', true)).toMatch(/1 created/);
});

test('what is excluded or git’s is left out, and not asked about again while others wait', async () => {
  const { sample, touch, asked, gate, clock } = begin();
  touch('changed', ...Array.from({ length: 100 }, (_, index) => `dist/${index}.js`), 'src/a.ts');
  expect(await sample('one')).toBeUndefined();
  asked.length = 0;
  expect(await sample('one')).toBeUndefined();
  expect(asked).toEqual(['src/a.ts', 'src/a.ts/']);
  clock.advance(10_000);
  touch('created', 'src/git.ts');
  gate.worked(clock.now(), clock.now(), new Set());
  expect(await sample('one')).toBeUndefined();
  // However much git does afterwards.
  for (let times = 0; times < 30; times += 1) {
    clock.advance(60_000);
    gate.worked(clock.now(), clock.now(), new Set());
  }
  clock.advance(60_000);
  expect(await sample('one')).toBeUndefined();
});

test('a folder is no file, also when what was made in it is left out', async () => {
  const { sample, touch } = begin();
  touch('created', 'logs', 'logs/a.log');
  expect(await sample('one')).toBeUndefined();
  expect(await sample('one')).toBeUndefined();
});
