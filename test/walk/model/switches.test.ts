// Random conversations over three APIs whose endpoints refuse what their vendors refuse: model and effort change between
// and in the middle of turns, with notifications, queued messages, images, failed calls, timers, compactions and restarts.
// No request is refused, and on each endpoint every request extends the one before.
import fc from 'fast-check';
import { afterEach, expect, test, vi } from 'vitest';
import { type ConversationLog } from '../../../src/core/conversation/log.ts';
import { type Model, type Tool } from '../../../src/core/ports/ports.ts';
import { createModel } from '../../../src/models/model.ts';
import { createConfigProducer } from '../../../src/producers/config.ts';
import { type LogEvent } from '../../../src/protocol/event.ts';
import { answer, defineTool } from '../../../src/tools/defineTool.ts';
import { atTestEnd, endAll } from '../../support/endings.ts';
import { createManualClock } from '../../support/manualClock.ts';
import { startAnthropic, textContent, thinkingBlock, useBlock } from '../../support/models/native/anthropicEndpoint.ts';
import {
  type Body,
  findChangedPrefix,
  type NativeEndpoint,
  startNativeEndpoint,
} from '../../support/models/native/nativeEndpoint.ts';
import { callItem, reasoningItem, startOpenAi, textItem } from '../../support/models/native/openaiEndpoint.ts';
import { refuseRequest, VENDORS } from '../../support/models/vendorRules.ts';
import { runs } from '../../support/runs.ts';
import { type Headless, startHeadless } from '../../support/walk/headless.ts';

afterEach(endAll);

const ENDPOINTS = {
  gpt: { baseUrl: 'https://api.openai.com/v1', model: 'gpt-6-sol', list: 'input' },
  claude: { baseUrl: 'https://api.anthropic.com/v1', model: 'claude-opus-5-5', list: 'messages' },
  kimi: { baseUrl: 'https://api.moonshot.ai/v1', model: 'kimi-k3', list: 'messages' },
} as const;
type Name = keyof typeof ENDPOINTS;
const NAMES = Object.keys(ENDPOINTS) as Name[];

/** What happens while a call runs. */
type Act =
  | { readonly type: 'look' | 'fail' | 'notify' | 'queue' | 'wake' | 'find' }
  | { readonly type: 'switch'; readonly to: Name }
  | { readonly type: 'effort'; readonly to: 'low' | 'high' | 'auto' };
interface Turn {
  readonly first: 'nothing' | 'compact' | 'restart' | 'notify' | 'image';
  readonly cycles: readonly (readonly Act[])[];
}

const act: fc.Arbitrary<Act> = fc.oneof(
  fc.record({ type: fc.constantFrom('look', 'fail', 'notify', 'queue', 'wake', 'find') }),
  fc.record({ type: fc.constant('switch' as const), to: fc.constantFrom(...NAMES) }),
  fc.record({ type: fc.constant('effort' as const), to: fc.constantFrom('low', 'high', 'auto') }),
);
const turn: fc.Arbitrary<Turn> = fc.record({
  first: fc.constantFrom('nothing', 'nothing', 'compact', 'restart', 'notify', 'image'),
  cycles: fc.array(fc.array(act, { minLength: 1, maxLength: 3 }), { maxLength: 3 }),
});

interface Planned {
  readonly id: string;
  readonly name: string;
  readonly input: object;
}

function nextOf(log: ConversationLog, is: (event: LogEvent) => boolean): Promise<void> {
  return new Promise((resolve) => {
    const listening = log.onDidAppend(({ event }) => {
      if (!is(event)) return;
      listening.dispose();
      resolve();
    });
  });
}

/** Sends requests for the vendors' hosts to the test's servers. */
function redirect(addresses: ReadonlyMap<string, string>): void {
  const real = globalThis.fetch;
  vi.stubGlobal('fetch', (url: string, init: RequestInit) => {
    const { origin } = new URL(url);
    return real(url.replace(origin, addresses.get(origin) ?? origin), init);
  });
}

/**
 * Results and texts as single blocks: a message that nothing answered gets more blocks. Deferred tools may be added: they
 * are read where a result refers to them.
 */
function asBlocks(body: Body): Body {
  const tools = (body['tools'] as readonly { readonly defer_loading?: true }[]).filter((tool) => !tool.defer_loading);
  const messages = body['messages'] as readonly { role: string; content?: unknown }[];
  const blocks = messages.flatMap(({ role, content, ...more }) =>
    Array.isArray(content)
      ? [...content.map((block) => ({ role, block: block as unknown })), more]
      : [{ role, content, ...more }],
  );
  return { ...body, tools, messages: blocks.filter((block) => Object.keys(block).length > 0) };
}

/** These may change with each request and are no part of what the endpoint caches. */
const PARAMETERS: Readonly<Record<Name, readonly string[]>> = {
  gpt: ['tool_choice'],
  claude: ['cache_control', 'diagnostics'],
  kimi: ['reasoning_effort'],
};

async function play(turns: readonly Turn[]): Promise<void> {
  let number = 0;
  /** The calls of the coming answers. */
  const script: (readonly Act[])[] = [];
  const acts = new Map<string, Act>();
  const rebuilds = new Map<Name, number[]>(NAMES.map((name) => [name, []]));
  const noteRequest = (name: Name) => rebuilds.get(name)?.push(log.state.prefix.rebuilds);
  const nextCalls = (body: Body): Planned[] => {
    const isSummary = JSON.stringify(body).includes('The conversation is about to be shortened');
    const given = isSummary ? [] : (script.shift() ?? []);
    return given.map((one): Planned => {
      const id = `call_${(number += 1)}`;
      acts.set(id, one);
      if (one.type === 'wake') return { id, name: 'wake_when', input: { name: id, when: { after: '5m' } } };
      return { id, name: 'act', input: { id } };
    });
  };
  const endpoints: Record<Name, NativeEndpoint> = {
    gpt: await startOpenAi(
      (_number, body) => {
        noteRequest('gpt');
        const calls = nextCalls(body).map(({ id, name, input }) => callItem(id, name, input));
        return { items: [reasoningItem('Hm.'), textItem(`Said ${number}.`, 'commentary'), ...calls] };
      },
      { withoutReasoning: true },
    ),
    claude: await startAnthropic(
      (_number, body) => {
        noteRequest('claude');
        const calls = nextCalls(body).map(({ id, name, input }) => useBlock(id, name, input));
        return { content: [thinkingBlock('Hm.'), textContent(`Said ${number}.`), ...calls] };
      },
      { withoutThinking: true },
    ),
    kimi: await startNativeEndpoint({
      title: 'data: [DONE]\n\n',
      reply: ({ body }) => {
        const vendor = VENDORS.find(({ name }) => name === 'Kimi K3');
        const refusal = vendor && refuseRequest(vendor, body);
        if (refusal !== undefined) return { status: refusal.status, body: { error: { message: refusal.message } } };
        noteRequest('kimi');
        const calls = nextCalls(body).map(({ id, name, input }, index) => ({
          ...{ index, id, type: 'function' },
          function: { name, arguments: JSON.stringify(input) },
        }));
        const delta = { reasoning_content: 'Hm.', content: `Said ${number}.`, tool_calls: calls };
        const chunk = { choices: [{ index: 0, delta, finish_reason: 'stop' }] };
        return { sse: `data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n` };
      },
    }),
  };
  redirect(new Map(NAMES.map((name) => [new URL(ENDPOINTS[name].baseUrl).origin, endpoints[name].address])));
  const models = new Map<string, Model>(
    NAMES.map((name) => {
      const made = createModel({ ...ENDPOINTS[name], apiKey: async () => 'k' });
      return [name, Object.setPrototypeOf({ id: name, efforts: ['low', 'high'] }, made) as Model];
    }),
  );
  const clock = createManualClock();
  const during: Tool = defineTool({
    name: 'act',
    description: 'Acts.',
    effect: 'read',
    arguments: {},
    run: async () => answer('done'),
  });
  const later = (name: string): Tool => ({ ...during, description: { ...during.description, name } });
  let found = 0;
  const run = async (one: Act | undefined) => {
    switch (one?.type) {
      case 'notify':
        await notify(`branch-${number}`);
        return;
      case 'queue':
        await log.append({ type: 'user_text_queued', content: `Also ${number}.` });
        return;
      case 'find':
        offer(later(`later_${(found += 1)}`));
        return;
      case 'switch':
        await log.append({ type: 'choice_made', model: one.to });
        return;
      case 'effort':
        await log.append({ type: 'choice_made', effort: one.to });
        return;
      default:
        return;
    }
  };
  const acting: Tool = {
    ...during,
    description: {
      ...during.description,
      parameters: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
    },
    parse: (value) => ({ ok: true, value }),
    run: async (value) => {
      const one = acts.get((value as { id: string }).id);
      await run(one);
      return { content: `seen ${number}`, isError: one?.type === 'fail' };
    },
  };
  const offer = (tool: Tool) => {
    const registered = headless.earshot.tools.register([tool]);
    atTestEnd(async () => registered.dispose());
  };
  let headless: Headless = await startHeadless({
    model: models.get('gpt') as Model,
    settings: { 'approvals.mode': 'all', 'notifications.activation': 'wake' },
    producers: () => [createConfigProducer()],
    ports: { clock, models: { names: [], get: (reference) => models.get(reference) } },
  });
  atTestEnd(() => headless.end());
  offer(acting);
  const opened = await headless.earshot.create();
  if (!opened.ok) throw new Error(opened.failure.message);
  let { log } = opened.value;
  const { id } = log;
  const notify = (message: string) =>
    headless.earshot.publish({
      ...{ kind: { source: 'git', name: 'head_changed' }, level: 'warning', origin: 'filesystem' },
      ...{ message, at: new Date(clock.now()).toISOString() },
    });
  const say = async (text: string, more: Parameters<typeof headless.earshot.send>[2] = {}) => {
    const sent = await headless.earshot.send(id, text, more);
    if (!sent.ok) throw new Error(sent.failure.message);
    await headless.earshot.settled(id);
  };
  for (const [index, { first, cycles }] of turns.entries()) {
    // There may be nothing to compact yet.
    if (first === 'compact' && (await headless.earshot.send(id, '/compact')).ok) await headless.earshot.settled(id);
    if (first === 'notify') await notify(`between-${index}`);
    if (first === 'restart') {
      headless = await headless.restart();
      offer(acting);
      const again = await headless.earshot.open(id);
      if (!again.ok) throw new Error(again.failure.message);
      log = again.value.log;
    }
    script.push(...cycles);
    const bytes = Buffer.from(`picture ${index}`);
    const image = { type: 'image', mediaType: 'image/png', bytes, name: `${index}.png` } as const;
    await say(`Turn ${index}.`, first === 'image' ? { attachments: [image] } : {});
    const due = [...acts.values()].filter(({ type }) => type === 'wake').length;
    acts.clear();
    if (due > 0) {
      const woken = nextOf(log, ({ type }) => type === 'turn_ended');
      clock.advance(6 * 60_000);
      await woken;
      await headless.earshot.settled(id);
    }
  }
  const events = await headless.events(id);
  vi.unstubAllGlobals();
  for (const name of NAMES) {
    const { refusals, requests } = endpoints[name];
    expect(refusals, name).toEqual([]);
    const { list } = ENDPOINTS[name];
    const sent = requests.map((request) =>
      name === 'claude' ? { ...request, body: asBlocks(request.body) } : request,
    );
    for (const [at, request] of sent.entries()) {
      const before = sent[at - 1];
      if (before === undefined || rebuilds.get(name)?.[at - 1] !== rebuilds.get(name)?.[at]) continue;
      expect(findChangedPrefix([before, request], list, PARAMETERS[name]), name).toBeUndefined();
    }
  }
  expect(headless.errors).toEqual([]);
  // The clock jumps, so that a request for a title may be given up.
  const failed = events.split('\n').filter((line) => line.includes('"outcome":"failed"') && !line.includes('"title"'));
  expect(failed).toEqual([]);
}

test('models and efforts change at any moment', { timeout: 300_000 }, async () => {
  const played = fc.asyncProperty(fc.array(turn, { minLength: 2, maxLength: 5 }), async (turns) => {
    await play(turns).finally(endAll);
  });
  await fc.assert(played, { numRuns: runs(6, 100) });
});
