// A handle that ends at any moment around a call about it is reported exactly once, by the result or by a notification.
import { expect, test } from 'vitest';
import { type LogEvent } from '../../../src/protocol/event.ts';
import { background, begin, call, done, handle } from '../../support/walk/handleWalks.ts';
import { type Walked } from '../../support/walk/walking.ts';

const REPORT = 'exit code 3';
const DELAYS = [0, 2, 4, 6, 8, 10, 14, 20];

/** Where the end was reported, in the order of the log; for one event the result comes before its block. */
async function reportsOf({ headless, id }: Walked): Promise<('result' | 'block')[]> {
  const events = (await headless.events(id)).trimEnd().split('\n');
  return events.flatMap((line) => {
    const event = JSON.parse(line) as LogEvent;
    if (event.type !== 'tool_call_response' && event.type !== 'chat_request') return [];
    const result = event.type === 'tool_call_response' && event.content.includes(REPORT);
    const block = event.notifications?.text.includes(REPORT) === true;
    return [...(result ? (['result'] as const) : []), ...(block ? (['block'] as const) : [])];
  });
}

const asks = {
  awaited: () => call('await', { any: ['job'] }),
  fetched: () => handle('fetch', 'job'),
  aborted: () => handle('abort', 'job'),
};

test.each(Object.entries(asks))('a handle that ends while it is %s is reported once', async (_name, ask) => {
  const walk = await begin([]);
  const { earshot } = walk.headless;
  for (const delay of DELAYS) {
    const opened = await earshot.create();
    if (!opened.ok) throw new Error(opened.failure.message);
    const { id } = opened.value.log;
    // At least 20 ms pass between two calls, so the end falls before, during or after the second call.
    walk.server.restart(
      { calls: [background('job', `sleep 0.0${String(delay).padStart(2, '0')}; exit 3`)] },
      { calls: [ask()] },
      done,
    );
    await earshot.send(id, 'Go.');
    await earshot.settled(id);
    const [job] = walk.headless.handles.list(id);
    await job?.until((one) => one.hasEnded);
    const stopped = job?.process.status.end?.cause === 'stopped';
    // Wait until notifications that are still being published are queued.
    await expect.poll(() => opened.value.log.state.handles.get('job')?.ended).toBe(true);
    walk.server.restart(done);
    await earshot.send(id, 'And?');
    await earshot.settled(id);
    const reports = await reportsOf({ ...walk, id });
    // A handle that was aborted before its end has another exit code, so its end is not counted.
    if (!stopped) expect(reports.length, `after ${delay} ms`).toBeGreaterThan(0);
    // The model may fetch a reported end again, but no notification may repeat it.
    expect(reports.slice(1), `after ${delay} ms: ${reports.join()}`).not.toContain('block');
    await earshot.close(id);
  }
});
