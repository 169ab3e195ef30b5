// The count of changed files that were not read: when it is reported, and what it leaves out.
import { expect, test } from 'vitest';
import { type DeliveryPoint } from '../../../../src/core/ports/producers.ts';
import { type Exclusions } from '../../../../src/producers/files/exclusions.ts';
import { WorkspaceCounts } from '../../../../src/producers/files/workspaceCounts.ts';
import { GitGate } from '../../../../src/producers/git/gitGate.ts';
import { createManualClock } from '../../../support/manualClock.ts';

const many = (folder: string, count: number) => Array.from({ length: count }, (_, index) => `${folder}/${index}.ts`);

function begin() {
  const ids = ['one', 'two'];
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
  const counts = new WorkspaceCounts({
    clock,
    gate,
    exclusions,
    isSeen,
    live: {
      ids: () => ids,
      callsSince: () => [],
      globs: (id: string) => new Set(id === 'two' ? ['*.md'] : []),
    } as never,
  });
  const come = (conversation: string) => {
    clock.advance(1);
    ids.push(conversation);
    counts.followLive();
  };
  const sample = async (conversation: string, type: DeliveryPoint['type'] = 'request', carries = false) => {
    clock.advance(1);
    const [sample] = await counts.sample({ conversation, type, carries } as DeliveryPoint);
    return sample?.draft?.message;
  };
  const touch = (type: 'created' | 'changed' | 'deleted', ...paths: string[]) => {
    clock.advance(1);
    for (const path of paths) counts.touched(path, type);
  };
  return { clock, gate, sample, touch, asked, come };
}

test('few changes are reported only once there are more', async () => {
  const { sample, touch } = begin();
  touch('changed', 'src/a.ts', 'src/b.ts', 'c.ts', 'seen.ts');
  touch('created', 'src/d.ts', ...many('src', 5));
  expect(await sample('one')).toBeUndefined();
  touch('deleted', 'src/e.ts');
  expect(await sample('one')).toBe(
    'Other files of the workspace meanwhile: 3 changed, 6 created, 1 deleted (src/ 9, at the top 1).',
  );
  expect(await sample('one')).toBeUndefined();
  // The other conversation has not got the count yet.
  expect(await sample('two')).toMatch(/3 changed/);
});

test('a tool result delivers the count only together with another notification', async () => {
  const { sample, touch } = begin();
  touch('created', ...many('src', 10));
  expect(await sample('one', 'result')).toBeUndefined();
  expect(await sample('one', 'result', true)).toMatch(/10 created/);
});

test('created and deleted counts as nothing, created and written as created, and after a report as changed', async () => {
  const { sample, touch } = begin();
  const files = many('src', 10);
  touch('created', ...files, 'swap');
  touch('changed', ...files);
  touch('deleted', 'swap');
  expect(await sample('one')).toBe('Other files of the workspace meanwhile: 10 created (src/ 10).');
  touch('changed', ...files);
  touch('changed', ...files);
  expect(await sample('one')).toMatch(/: 10 changed/);
  expect(await sample('two')).toMatch(/: 10 created/);
  touch('deleted', ...files);
  touch('created', ...files);
  expect(await sample('one')).toMatch(/: 10 changed/);
});

test('a conversation that joins gets only later changes', async () => {
  const { sample, touch, come } = begin();
  touch('created', ...many('src', 10));
  come('three');
  expect(await sample('three')).toBeUndefined();
  touch('created', ...many('test', 10));
  expect(await sample('three')).toMatch(/: 10 created \(test\/ 10\)/);
});

test('excluded files and files of git are left out, and not checked again', async () => {
  const { sample, touch, asked, gate, clock } = begin();
  touch('changed', ...Array.from({ length: 100 }, (_, index) => `dist/${index}.js`), 'src/a.ts');
  expect(await sample('one')).toBeUndefined();
  asked.length = 0;
  expect(await sample('one')).toBeUndefined();
  expect(asked).toEqual(['src/a.ts', 'src/a.ts/']);
  clock.advance(10_000);
  touch('created', ...many('src', 10));
  gate.addOperation(clock.now(), clock.now(), new Set());
  expect(await sample('one')).toBeUndefined();
  // Later git operations do not change that.
  for (let times = 0; times < 30; times += 1) {
    clock.advance(60_000);
    gate.addOperation(clock.now(), clock.now(), new Set());
  }
  clock.advance(60_000);
  expect(await sample('one')).toBeUndefined();
});

test('a folder is not counted, even if the files created in it are left out', async () => {
  const { sample, touch } = begin();
  touch('created', ...many('src', 9), 'logs', 'logs/a.log');
  expect(await sample('one')).toBeUndefined();
  expect(await sample('one')).toBeUndefined();
});

test('a program that writes all the time does not prolong the time in which changes are attributed to git', async () => {
  const { sample, touch, gate, clock } = begin();
  gate.addOperation(clock.now(), clock.now(), new Set());
  for (let second = 0; second < 120; second += 1) {
    clock.advance(1000);
    touch('changed', 'server.txt');
  }
  touch('created', ...many('src', 10));
  expect(await sample('one')).toMatch(/1 changed, 10 created/);
});

test('late events of files that git changed, and of their folder, are not counted', async () => {
  const { sample, touch, gate, clock } = begin();
  gate.addOperation(clock.now(), clock.now(), new Set(many('old/deep', 11)));
  clock.advance(20_000);
  touch('deleted', ...many('old/deep', 10), 'old/deep', 'old');
  expect(await sample('one')).toBeUndefined();
  touch('created', ...many('src', 10));
  expect(await sample('one')).toBe('Other files of the workspace meanwhile: 10 created (src/ 10).');
});

test('files that a conversation watches are not in its count', async () => {
  const { sample, touch } = begin();
  touch('created', ...many('src', 9), 'news.md');
  expect(await sample('two')).toBeUndefined();
  expect(await sample('one')).toMatch(/: 10 created/);
});

test('late events of the operation before the last one are not counted', async () => {
  const { sample, touch, gate, clock } = begin();
  gate.addOperation(clock.now(), clock.now(), new Set(many('first', 11)));
  gate.addOperation(clock.now(), clock.now(), new Set(many('second', 11)));
  clock.advance(30_000);
  touch('changed', ...many('first', 11), ...many('second', 11));
  expect(await sample('one')).toBeUndefined();
});
