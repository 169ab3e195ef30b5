// The tool await: waits for any or all background commands, and returns early for urgent notifications.
import { expect, test } from 'vitest';
import { type NotificationDraft } from '../../../src/protocol/notification.ts';
import {
  background,
  begin,
  call,
  deliveredBlocks,
  done,
  nextEvent,
  responses,
} from '../../support/walk/handleWalks.ts';
import { type Walked, type WalkOptions } from '../../support/walk/walking.ts';

test('await returns the end of a handle started in the same answer, and no notification reports it', async () => {
  const walk = await begin([
    { calls: [background('build', 'echo built'), call('await', { any: ['build'] })] },
    done,
    done,
  ]);
  await walk.go();
  await walk.go();
  const waited = (await responses(walk)).find((content) => content.startsWith('build: '));
  expect(waited).toMatch(/^build: ended with exit code 0 after .* s\.\nLast lines:\nbuilt$/);
  expect(await deliveredBlocks(walk)).toBe('');
});

test('await waits for all handles or for any', async () => {
  const walk = await begin([
    { calls: [background('a', 'read x'), background('b', 'read x; exit 2')] },
    { calls: [call('await', { any: ['a', 'b'] })] },
    { calls: [call('await', { all: ['a', 'b'] })] },
    done,
  ]);
  const waits = nextEvent(walk, (event) => event.type === 'tool_call_request' && event.name === 'await');
  const turn = walk.go();
  await waits;
  const [a, b] = ['a', 'b'].map((name) => walk.headless.handles.list(walk.id).find((one) => one.name === name));
  const second = nextEvent(walk, (event) => event.type === 'tool_call_request' && event.name === 'await');
  await a?.write('\n');
  await second;
  await b?.write('\n');
  await turn;
  const [, , any = '', all = ''] = await responses(walk);
  expect(any).toMatch(/^a: ended with exit code 0 after .*\nb: running for/);
  expect(all).toMatch(/^a: ended with exit code 0 .*\nb: ended with exit code 2/);
  expect(await deliveredBlocks(walk)).toBe('');
});

test('await returns after its time limit and names handles that do not exist', async () => {
  const walk = await begin([
    { calls: [background('slow', 'sleep 1000')] },
    { calls: [call('await', { all: ['slow'], timeout_secs: 1 })] },
    { calls: [call('await', { any: ['slow', 'other'] })] },
    { calls: [call('await', { any: ['slow'], all: ['slow'] })] },
    done,
  ]);
  await walk.go();
  const [, late = '', missing = '', both = ''] = await responses(walk);
  expect(late).toMatch(/^slow: running for .*\n\(The 1 s are over\.\)$/);
  expect(missing).toBe('There is no handle “other”. handle list shows them.');
  expect(both).toBe('any, all: give one of them, not both.');
});

test('await without background commands returns at once and says so', async () => {
  const walk = await begin([{ calls: [call('await', {})] }, done]);
  await walk.go();
  expect((await responses(walk))[0]).toContain('nothing to wait for');
});

const draft = (level: NotificationDraft['level'], source = 'task', name = 'ended'): NotificationDraft => ({
  kind: { source, name },
  level,
  message: 'Something happened.',
  subject: `${source}:x`,
  origin: 'process',
  at: '2026-01-01T00:00:00.000Z',
});

/** A turn that waits for a handle that never ends. */
async function waiting(options: WalkOptions = {}): Promise<{ walk: Walked; turn: Promise<void> }> {
  const walk = await begin(
    [{ calls: [background('slow', 'sleep 1000')] }, { calls: [call('await', { any: ['slow'] })] }, done],
    options,
  );
  const waits = nextEvent(walk, (event) => event.type === 'tool_call_request' && event.name === 'await');
  const turn = walk.go();
  await waits;
  return { walk, turn };
}

test.each([
  ['an error', draft('error'), 'task.ended'],
  ['something critical', draft('critical'), 'task.ended'],
  ['a warning', draft('warning', 'git', 'head_changed'), 'git.head_changed'],
])('await returns at once on %s', async (_name, notification, kind) => {
  const { walk, turn } = await waiting();
  await walk.headless.earshot.publish(notification);
  await turn;
  expect((await responses(walk))[1]).toMatch(new RegExp(`^slow: running for .*\\n\\(Returned early: ${kind}\\.\\)$`));
  expect(await deliveredBlocks(walk)).toContain('Something happened.');
});

test('await returns at once when the user writes', async () => {
  const { walk, turn } = await waiting();
  await walk.log.append({ type: 'user_text_queued', content: 'Stop that.' });
  await turn;
  expect((await responses(walk))[1]).toContain('(Returned early: the user wrote.)');
  expect(await deliveredBlocks(walk)).toContain('Stop that.');
});

test('await does not return for information or filtered notifications', async () => {
  const { walk, turn } = await waiting({ settings: { 'notifications.kinds': { git: { enable: false } } } });
  await walk.headless.earshot.publish(draft('info'));
  await walk.headless.earshot.publish(draft('critical', 'git', 'head_changed'));
  expect(walk.log.state.turn.unanswered).toHaveLength(1);
  await walk.headless.earshot.publish(draft('error', 'terminal', 'failed'));
  await turn;
  expect((await responses(walk))[1]).toContain('(Returned early: terminal.failed.)');
});

test('await returns for warnings at most once in 60 s', async () => {
  const { walk, turn } = await waiting();
  walk.server.restart({ calls: [call('await', { any: ['slow'] })] }, done);
  const again = nextEvent(walk, (event) => event.type === 'tool_call_request' && event.name === 'await');
  await walk.headless.earshot.publish(draft('warning', 'git', 'head_changed'));
  await again;
  await walk.headless.earshot.publish(draft('warning', 'terminal', 'failed'));
  walk.clock.advance(59_000);
  expect(walk.log.state.turn.unanswered).toHaveLength(1);
  walk.clock.advance(1000);
  await turn;
  expect((await responses(walk))[2]).toContain('(Returned early: terminal.failed.)');
});

test('await returns at once when any handle seems to wait for input, even one that is not awaited', async () => {
  const walk = await begin([
    { calls: [background('slow', 'sleep 1000'), background('asks', 'printf "Name? "; read x; sleep 1000')] },
    { calls: [call('await', { any: ['slow'] })] },
    { calls: [call('await', { all: ['slow', 'asks'] })] },
    done,
  ]);
  const first = nextEvent(walk, (event) => event.type === 'tool_call_request' && event.name === 'await');
  const turn = walk.go();
  await first;
  const asks = walk.headless.handles.list(walk.id).find(({ name }) => name === 'asks');
  await asks?.until(({ process }) => process.status.size > 0);
  walk.clock.advance(3000);
  await turn;
  const [, , one = '', two = ''] = await responses(walk);
  expect(one).toContain('(Returned early: tool.waiting.)');
  expect(two).toMatch(/asks: running for .*; it seems to wait for input at: Name\?/);
  expect((await deliveredBlocks(walk)).match(/seems to wait/g)).toHaveLength(1);
});

test('await is cancelled with the turn', async () => {
  const { walk, turn } = await waiting();
  await walk.headless.earshot.stop(walk.id);
  await turn;
  expect((await responses(walk))[1]).toBe('Cancelled by the user.');
  expect(walk.headless.handles.hasRunning(walk.id)).toBe(true);
});
