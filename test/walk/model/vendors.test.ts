// Turns of ten cycles with parallel calls, notifications and a queued message at endpoints with the vendors' own rules.
import { expect, test } from 'vitest';
import { type Tool } from '../../../src/core/ports/ports.ts';
import { boundSchema } from '../../../src/mcp/tools/toolSchema.ts';
import { createChatModel } from '../../../src/models/chat/chatModel.ts';
import { type LogEvent } from '../../../src/protocol/event.ts';
import { atTestEnd } from '../../support/endings.ts';
import { startScriptedServer } from '../../support/models/scriptedServer.ts';
import { redirectHost } from '../../support/models/vendorHosts.ts';
import { refuseRequest, type Vendor, VENDORS } from '../../support/models/vendorRules.ts';
import { run } from '../../support/walk/deliveryWalks.ts';
import { beginWalk, type Walked } from '../../support/walk/walking.ts';

const CYCLES = 10;

/** A tool as servers describe them: with schemas that some endpoints refuse. */
const late: Tool = {
  description: {
    name: 'late_tool',
    description: 'Comes later.',
    parameters: boundSchema({
      name: 'late_tool',
      inputSchema: {
        type: 'object',
        additionalProperties: false,
        $defs: { place: { type: 'object', properties: { row: { enum: [1, 2] } } } },
        properties: {
          place: { $ref: '#/$defs/place', description: 'Where' },
          which: { oneOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }], description: 'Which' },
          pair: { type: 'array', items: [{ type: 'number' }, { type: 'string' }] },
          any: {},
        },
        required: ['place'],
      },
    } as never),
  },
  effect: 'read',
  emits: [],
  parse: (value) => ({ ok: true, value }),
  run: async () => ({ content: 'Late.', isError: false }),
};

/** One notification becomes pending during every request, a tool comes with the second, the user writes during the third. */
async function tenCycles(vendor: Vendor): Promise<Walked> {
  const { baseUrl, model } = vendor;
  const chat = createChatModel({ baseUrl, model, apiKey: async () => 'k' });
  const calls = (cycle: number) => [run(`call_${cycle}_a`, `echo a${cycle}`), run(`call_${cycle}_b`, `echo b${cycle}`)];
  const script = Array.from({ length: CYCLES }, (_, cycle) => vendor.answer(cycle, calls(cycle)));
  const walk = await beginWalk([...script, { text: ['Done.'] }, { text: ['Again.'] }], {
    settings: { 'approvals.mode': 'all' },
    ports: { model: () => chat },
  });
  const endRedirection = redirectHost(baseUrl, walk.server.baseUrl);
  atTestEnd(async () => endRedirection());
  const { earshot } = walk.headless;
  let accepted = 0;
  const published: Promise<unknown>[] = [];
  walk.server.refuseIf((body) => {
    const refused = refuseRequest(vendor, body);
    if (refused !== undefined) return refused;
    accepted += 1;
    if (accepted === 2) {
      const registered = earshot.tools.register([late]);
      atTestEnd(async () => registered.dispose());
    }
    const fact = earshot.publish({
      kind: { source: 'git', name: 'head_changed' },
      level: 'warning',
      message: `fact ${accepted}.`,
      subject: `git:${accepted}`,
      origin: 'filesystem',
      at: new Date(0).toISOString(),
    });
    published.push(fact);
    if (accepted === 3) published.push(earshot.queue(walk.id, 'Use the other branch.'));
    return undefined;
  });
  await walk.go('Begin.');
  await walk.go('Go on.');
  await Promise.all(published);
  return walk;
}

async function eventsOf(walk: Walked): Promise<LogEvent[]> {
  return (await walk.headless.events(walk.id))
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as LogEvent);
}

test.each(VENDORS.map((vendor) => [vendor.name, vendor] as const))('%s', async (_name, vendor) => {
  const walk = await tenCycles(vendor);
  const ended = (await eventsOf(walk)).filter((event) => event.type === 'turn_ended');
  expect(ended).toMatchObject([{ outcome: 'done' }, { outcome: 'done' }]);
  const last = walk.server.requests.at(-1)?.body ?? '';
  const { messages } = JSON.parse(last) as { messages: { role: string; content: unknown }[] };
  // Every fact and result arrived once; the user's words stand in a message of the user and nowhere else.
  for (let fact = 1; fact <= CYCLES; fact += 1) expect(last.split(`fact ${fact}.`)).toHaveLength(2);
  for (let cycle = 0; cycle < CYCLES; cycle += 1) {
    const results = messages.filter(({ role }) => role === 'tool').map(({ content }) => JSON.stringify(content));
    expect(results.filter((text) => text.includes(`a${cycle}\\n`) || text.includes(`b${cycle}\\n`))).toHaveLength(2);
  }
  const words = messages.filter((message) => JSON.stringify(message).includes('Use the other branch.'));
  expect(words).toMatchObject([{ role: 'user' }]);
  // The tool that came later is described once: by Kimi's own means in a message, elsewhere at the end of the list.
  const { tools } = JSON.parse(last) as { tools: { function: { name: string } }[] };
  const first = JSON.parse(walk.server.requests[0]?.body ?? '') as { tools: unknown[] };
  const inMessages = messages.filter((message) => 'tools' in message);
  if (vendor.name === 'Kimi K3') {
    expect(tools).toEqual(first.tools);
    expect(inMessages).toMatchObject([{ role: 'system', tools: [{ function: { name: 'late_tool' } }] }]);
  } else expect(tools.at(-1)?.function.name).toBe('late_tool');
  // Requests are refused only while the form of an unknown server is learnt.
  const refused = walk.server.requests.length - (CYCLES + 2);
  expect(refused).toBeLessThanOrEqual(vendor.baseUrl.includes('example') ? 4 : 0);
});

test.each(VENDORS.map((vendor) => [vendor.name, vendor] as const))(
  '%s accepts a conversation that another provider began',
  async (_name, vendor) => {
    const { baseUrl, model } = vendor;
    const made = { apiKey: async () => 'k' };
    const own = createChatModel({ baseUrl, model, ...made });
    const first = [run('functions.run_command:0', 'echo one'), run('x'.repeat(90), 'echo two')];
    const elsewhere = await startScriptedServer({ reasoning: ['Elsewhere.'], calls: first }, { text: ['Done.'] });
    atTestEnd(() => elsewhere.stop());
    const other = createChatModel({ baseUrl: elsewhere.baseUrl, model: 'other', ...made });
    let chosen = other;
    const walk = await beginWalk([vendor.answer(0, [run('call_new', 'echo three')]), { text: ['Done here.'] }], {
      settings: { 'approvals.mode': 'all' },
      ports: { model: () => chosen },
    });
    const endRedirection = redirectHost(baseUrl, walk.server.baseUrl);
    atTestEnd(async () => endRedirection());
    const isSplit = vendor.baseUrl.includes('example');
    walk.server.refuseIf((body) => refuseRequest(vendor, body, isSplit ? 2 : 1));
    await walk.go('Begin.');
    chosen = own;
    await walk.go('Now you.');
    const ended = (await eventsOf(walk)).filter((event) => event.type === 'turn_ended');
    expect(ended).toMatchObject([{ outcome: 'done' }, { outcome: 'done' }]);
    expect(walk.server.requests.at(-1)?.body).not.toContain('Elsewhere.');
  },
);
