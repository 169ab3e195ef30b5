// The requests that are shown later are those that went out: printed again from the log they have the same bytes, for every
// format and API, with an image, an answer by a schema, a found tool and a changed effort, after a form that was learnt, a
// retry, an interruption, a compaction, a restart with damaged lines, and in a fork.
import { readFile, writeFile } from 'node:fs/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { forkEvents } from '../../../src/core/conversation/fork.ts';
import { FORMATS } from '../../../src/protocol/event.ts';
import { endAll } from '../../support/endings.ts';
import { type Headless } from '../../support/walk/headless.ts';
import {
  apis,
  beginSent,
  eventsOf,
  hang,
  image,
  look,
  png,
  printAllAgain,
  refuse,
  schema,
} from '../../support/walk/sentWalks.ts';

afterEach(endAll);

const printedAgain = async (headless: Headless, id: string) =>
  printAllAgain(await eventsOf(headless, id), headless.ports.snapshots);

describe.each(Object.keys(apis) as (keyof typeof apis)[])('%s', (api) => {
  test.each(FORMATS)('%s: every request of a long conversation is printed again as it went out', async (format) => {
    const one = await beginSent(api, format);
    const { sent, faults } = one.wire;
    /** Those in a form that the endpoint refused: each was repeated in another one, which is the one that is shown. */
    const refused = new Set<number>();
    const shown = () => sent.filter((_, index) => !refused.has(index));
    const outcomes = async () => (await printedAgain(one.headless, one.id)).map(({ outcome }) => outcome);

    const [message, parameter] = apis[api].refused;
    faults.push(refuse(400, message));
    refused.add(0);
    await one.go('First.', [look, 'Seen.'], { attachments: [image] });
    expect(sent[0]).toContain(parameter);
    expect(sent[1]).not.toContain(parameter);
    expect(sent[1]).toContain(png.toString('base64'));

    expect(await one.headless.earshot.choices.choose(one.id, { effort: 'low' })).toMatchObject({ ok: true });
    await one.go('Second, “quoted”.', [['find_tools', { query: 't30' }], ['s__t30', {}], '{"tea":"sencha"}'], {
      schema,
    });
    expect(sent.some((body) => body.includes('t30 xxx'))).toBe(true);
    expect(sent.some((body) => body.includes('Your final answer must be JSON that fits'))).toBe(true);

    // It is sent again after a pause.
    faults.push(refuse(500, 'Try again.'));
    await one.go('Third.', [look, 'Seen.']);
    expect(await outcomes()).toContain('failed');
    const before = sent.length;
    faults.push(hang);
    const turn = one.headless.earshot.send(one.id, 'Hang.');
    await expect.poll(() => sent.length).toBeGreaterThan(before);
    await one.headless.earshot.stop(one.id);
    await turn;
    await one.headless.earshot.settled(one.id);
    await one.go('Again.', ['Yes.']);
    expect(await outcomes()).toContain('aborted');
    const shared = sent.length - refused.size;

    const { ports } = one.headless;
    const forkId = ports.ids.ulid();
    const events = await eventsOf(one.headless, one.id);
    const through = events.findLast(({ type }) => type === 'turn_ended')?.seq ?? 0;
    const ulid = () => ports.ids.ulid();
    const forked = forkEvents({ id: one.id, events, through, now: new Date().toISOString(), ulid });
    if (!forked.ok) throw new Error(forked.failure.message);
    expect(await ports.store.create(forkId, forked.value)).toMatchObject({ ok: true });

    await one.go('/compact the colour of the tea', ['It looked at sencha.']);
    await one.go('After the summary.', [look, 'Seen.']);
    expect(sent.at(-1)).toContain('It looked at sencha.');
    expect(sent.at(-1)).not.toContain('Second, “quoted”.');
    const printed = await printedAgain(one.headless, one.id);
    expect(printed.map(({ body }) => body)).toEqual(shown());
    expect(printed.every(({ isExact }) => isExact)).toBe(true);
    expect(sent.some((body) => body.includes('switched to'))).toBe(true);

    // A line that a request contains is damaged after it was sent: that one says so, those after it do not contain it.
    await one.restart(async (file) => {
      const lines = (await readFile(file, 'utf8')).split('\n');
      const index = lines.findLastIndex((line) => line.includes('"type":"tool_call_response"'));
      lines[index] = lines[index]?.replace('seen', 'sEen') ?? '';
      await writeFile(file, lines.join('\n'));
    });
    const damaged = shown().length - 1;
    await one.go('After the damage.', [look, 'Seen.']);
    const own = shown();
    const again = await printedAgain(one.headless, one.id);
    expect(again.map(({ body, isExact }, index) => isExact && body === own[index])).toEqual(
      own.map((_, index) => index !== damaged),
    );
    expect(again[damaged]?.isExact).toBe(false);

    expect(await one.headless.earshot.open(forkId)).toMatchObject({ ok: true });
    await one.go('In the fork.', [look, 'Seen.'], { to: forkId });
    const inFork = (await printedAgain(one.headless, forkId)).map(({ body }) => body);
    expect(inFork).toEqual([...own.slice(0, shared), ...shown().slice(own.length)]);
  });
});
