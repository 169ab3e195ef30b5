// Subagents over a restart and across two windows: resumed or ended as interrupted, notified once, and run only by the
// owner.
import { expect, test } from 'vitest';
import { type ApprovalAnswer } from '../../../src/core/ports/ports.ts';
import { beginFamily, call, done, start } from '../../support/walk/subagentWalks.ts';

const neverAnswered = (_request: unknown, signal: AbortSignal) =>
  new Promise<ApprovalAnswer>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(new Error('cancelled')), { once: true });
  });
const hanging = { text: ['Working.'], hang: true };

test('a subagent that was running when the window was killed ends as interrupted, and one notification reports it', async () => {
  const family = await beginFamily([{ calls: [start('slow')] }, done], { slow: [hanging] });
  await family.go();
  await family.agents['slow']?.request(0);
  await family.restart();
  await family.event(({ type }) => type === 'notification_queued');
  await family.restart();
  await family.restart();
  family.server.script(done, done);
  await family.go('And?');
  await family.go('And?');
  const delivered = await family.delivered();
  expect(delivered).toHaveLength(1);
  expect(delivered[0]).toMatch(
    /^failed: The subagent “slow” .* failed after .* s: This turn was interrupted: the editor was closed or reloaded\./,
  );
  const blocks = (await family.events()).filter((event) => JSON.stringify(event).includes('“slow” (The task'));
  expect(blocks.map(({ type }) => type)).toEqual(['notification_queued', 'chat_request']);
});

test('the end of a subagent that its parent missed is delivered with its answer after the restart', async () => {
  const family = await beginFamily([{ calls: [start('quick')] }, done], { quick: [hanging] }, { producers: () => [] });
  await family.go();
  await family.agents['quick']?.request(0);
  // The parent's log is closed first, as when its window is killed: nothing about the end gets into it.
  await family.headless.earshot.get(family.id)?.log.closeFile();
  family.agents['quick']?.release();
  await family.ended('quick');
  const used = family.headless.earshot.get(family.child('quick'))?.log.state.usage.total;
  await family.restart();
  await family.event(({ type }) => type === 'notification_queued');
  expect((await family.delivered())[0]).toContain('| Working.');
  const usage = family.headless.earshot.get(family.id)?.log.state.usage;
  expect(usage?.usedBySubagent(family.child('quick')).get('quick')).toEqual(used);
  await family.restart();
  expect(await family.delivered()).toHaveLength(1);
  expect(family.headless.earshot.get(family.id)?.log.state.usage.total).toEqual(usage?.total);
});

test('a subagent that waited for an approval asks again after a restart, and continues', async () => {
  const family = await beginFamily(
    [{ calls: [start('writer')] }, done],
    { writer: [{ calls: [call('write_file', { path: 'new.txt', content: 'text\n' })] }, { text: ['Written.'] }] },
    { settings: { 'approvals.mode': 'reads' } },
  );
  family.headless.frontend.answer = neverAnswered;
  await family.go();
  await expect.poll(() => family.headless.frontend.asked.length).toBe(1);
  expect(family.headless.frontend.asked[0]?.conversation).toBe(family.child('writer'));
  await expect
    .poll(() => family.headless.handles.list(family.id)[0]?.process.status.waitsFor)
    .toBe('the user’s approval');
  await family.restart();
  await family.ended('writer');
  expect(family.headless.frontend.asked).toHaveLength(1);
  await family.event(({ type }) => type === 'notification_queued');
  expect((await family.delivered())[0]).toContain('| Written.');
});

test('a rejected call of a subagent is reported to the subagent, which continues', async () => {
  const family = await beginFamily(
    [{ calls: [start('writer'), call('await', { any: ['writer'] })] }, done],
    { writer: [{ calls: [call('write_file', { path: 'new.txt', content: 'x' })] }, { text: ['I may not.'] }] },
    { settings: { 'approvals.mode': 'reads' } },
  );
  family.headless.frontend.answer = async () => ({ action: 'reject', reason: 'Not there', by: 'user' });
  await family.go();
  expect(family.agents['writer']?.requests.at(-1)?.body).toContain('The user rejected this call: Not there.');
  expect(family.server.requests.at(-1)?.body).toContain('| I may not.');
});

test('a window that takes over the parent takes over its subagent too, and only one window runs the subagent', async () => {
  const family = await beginFamily([{ calls: [start('slow')] }, done], {
    slow: [{ calls: [call('list_files', {})] }, hanging],
  });
  await family.go();
  const first = family.headless;
  await family.agents['slow']?.request(1);
  const second = await first.second();
  const child = family.child('slow');
  const opened = await second.earshot.open(family.id);
  expect(opened.ok && opened.value.owned).toBe(false);
  expect(second.handles.list(family.id)).toEqual([]);
  await second.earshot.continueHere(family.id);
  expect(second.handles.list(family.id).map(({ name }) => name)).toEqual(['slow']);
  expect(first.handles.list(family.id)).toEqual([]);
  await family.agents['slow']?.request(0);
  family.agents['slow']?.release();
  await second.handles.list(family.id)[0]?.until((one) => one.hasEnded);
  await expect.poll(() => second.earshot.get(child)?.owned).toBe(true);
  expect(family.agents['slow']?.requests).toHaveLength(2);
  await expect.poll(() => family.delivered()).toHaveLength(1);
  await second.close();
});
