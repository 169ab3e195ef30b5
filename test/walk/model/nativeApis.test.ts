// A turn of ten cycles through the whole loop, on endpoints that refuse what their vendors refuse: parallel calls,
// notifications and queued messages. No request is refused, and each one extends the one before.
import { afterEach, describe, expect, test, vi } from 'vitest';
import { type Tool } from '../../../src/core/ports/ports.ts';
import { createModel } from '../../../src/models/model.ts';
import { type NotificationDraft } from '../../../src/protocol/notification.ts';
import { endAll, atTestEnd } from '../../support/endings.ts';
import { startAnthropic, textContent, thinkingBlock, useBlock } from '../../support/models/native/anthropicEndpoint.ts';
import { findChangedPrefix, type NativeEndpoint } from '../../support/models/native/nativeEndpoint.ts';
import { callItem, reasoningItem, startOpenAi, textItem } from '../../support/models/native/openaiEndpoint.ts';
import { type Headless, startHeadless } from '../../support/walk/headless.ts';

const CYCLES = 10;

afterEach(endAll);

/** Lets the model address its real host; the requests arrive at the test's server. */
function redirect(baseUrl: string, address: string): void {
  const { origin } = new URL(baseUrl);
  const real = globalThis.fetch;
  vi.stubGlobal('fetch', (url: string, init: RequestInit) => real(url.replace(origin, address), init));
  atTestEnd(async () => void vi.unstubAllGlobals());
}

const openAiAnswers = (number: number) => ({
  items:
    number < CYCLES
      ? [
          reasoningItem(`Step ${number}.`),
          textItem(`I look twice, ${number}.`, 'commentary'),
          callItem(`call_${number}_a`, 'look', { at: 'a' }),
          callItem(`call_${number}_b`, 'look', { at: 'b' }),
        ]
      : [reasoningItem('Done.'), textItem(`The end, ${number}.`)],
});

const claudeAnswers = (number: number) => ({
  content:
    number < CYCLES
      ? [
          thinkingBlock(`Step ${number}.`),
          textContent(`I look twice, ${number}.`),
          useBlock(`toolu_${number}_a`, 'look', { at: 'a' }),
          thinkingBlock(`And b, ${number}.`),
          useBlock(`toolu_${number}_b`, 'look', { at: 'b' }),
        ]
      : [thinkingBlock('Done.'), textContent(`The end, ${number}.`)],
});

interface Walked {
  readonly headless: Headless;
  readonly id: string;
  say(text: string): Promise<void>;
}

/** In every second cycle a notification arrives while the second call runs, in every third a message of the user. */
async function walk(baseUrl: string, model: string): Promise<Walked> {
  let looks = 0;
  let publish: (message: string) => Promise<unknown> = async () => undefined;
  let queue: (content: string) => Promise<unknown> = async () => undefined;
  const look: Tool = {
    description: {
      name: 'look',
      description: 'Looks.',
      parameters: { type: 'object', properties: { at: { type: 'string' } } },
    },
    effect: 'read',
    emits: [],
    parse: (value) => ({ ok: true, value }),
    run: async () => {
      const number = looks++;
      if (number % 4 === 1) await publish(`switched to branch-${number}`);
      if (number % 6 === 3) await queue(`Also do ${number}.`);
      return { content: `seen ${number}`, isError: number % 5 === 4 };
    },
  };
  const headless = await startHeadless({
    model: createModel({ baseUrl, model, apiKey: async () => 'k' }),
    ports: { tools: [look], producers: [] },
  });
  atTestEnd(() => headless.end());
  const opened = await headless.earshot.create();
  if (!opened.ok) throw new Error(opened.failure.message);
  const { log } = opened.value;
  publish = (message) => headless.earshot.publish(headChanged(message));
  queue = (content) => log.append({ type: 'user_text_queued', content });
  return {
    headless,
    id: log.id,
    say: async (text) => {
      expect(await headless.earshot.send(log.id, text)).toMatchObject({ ok: true });
      await headless.earshot.settled(log.id);
      expect(log.state.transcript.items.at(-1)).toMatchObject({ type: 'answer' });
    },
  };
}

function headChanged(message: string): NotificationDraft {
  const at = new Date().toISOString();
  return { kind: { source: 'git', name: 'head_changed' }, level: 'warning', message, origin: 'filesystem', at };
}

interface Case {
  readonly baseUrl: string;
  readonly model: string;
  start(): Promise<NativeEndpoint>;
  readonly list: 'input' | 'messages';
  /** The role of the messages that carry notifications; undefined: they are in the results. */
  readonly role: string | undefined;
}

const openAi =
  (azure = false) =>
  () =>
    startOpenAi(openAiAnswers, { azure });
const anthropic =
  (compatible = false) =>
  () =>
    startAnthropic(claudeAnswers, { compatible });
const responses = { list: 'input', role: 'developer' } as const;
const cases: Readonly<Record<string, Case>> = {
  OpenAI: { baseUrl: 'https://api.openai.com/v1', model: 'gpt-6-sol', start: openAi(), ...responses },
  'GPT-5.5': { baseUrl: 'https://api.openai.com/v1', model: 'gpt-5.5', start: openAi(), ...responses },
  Azure: { baseUrl: 'https://tea.openai.azure.com', model: 'my-deployment', start: openAi(true), ...responses },
  xAI: { baseUrl: 'https://api.x.ai/v1', model: 'grok-4.7', start: openAi(), ...responses },
  Meta: { baseUrl: 'https://api.meta.ai/v1', model: 'muse-spark-1.3', start: openAi(), ...responses },
  'Claude with bound thinking': {
    baseUrl: 'https://api.anthropic.com/v1',
    model: 'claude-opus-5-5',
    start: anthropic(),
    list: 'messages',
    role: 'system',
  },
  'Claude 4.8': {
    baseUrl: 'https://api.anthropic.com',
    model: 'claude-opus-4-8',
    start: anthropic(),
    list: 'messages',
    role: 'system',
  },
  'Claude without system messages': {
    baseUrl: 'https://api.anthropic.com/v1',
    model: 'claude-sonnet-4-5-20250929',
    start: anthropic(),
    list: 'messages',
    role: undefined,
  },
  MiniMax: {
    baseUrl: 'https://api.minimax.io/anthropic',
    model: 'MiniMax-M3',
    start: anthropic(true),
    list: 'messages',
    role: undefined,
  },
};

describe.each(Object.entries(cases))('%s', (_name, { baseUrl, model, start, list, role }) => {
  test('a turn of ten cycles and a second turn are accepted, and no prefix changes', async () => {
    const endpoint = await start();
    redirect(baseUrl, endpoint.address);
    const { headless, say, id } = await walk(baseUrl, model);
    await say('Look around.');
    await headless.earshot.publish(headChanged('switched to the last branch'));
    await say('And now?');
    expect(endpoint.refusals).toEqual([]);
    expect(endpoint.requests).toHaveLength(CYCLES + 2);
    expect(findChangedPrefix(endpoint.requests, list, ['cache_control', 'diagnostics'])).toBeUndefined();
    expect(headless.errors).toEqual([]);
    // Anthropic compares each request with the one before, and says why its cache has less.
    const compared = endpoint.requests.map(({ body }) => 'diagnostics' in body);
    expect(new Set(compared.slice(1))).toEqual(new Set([baseUrl.includes('anthropic.com')]));
    const sent = endpoint.requests.at(-1)?.body[list] as readonly { role?: string }[];
    const withFacts = sent.filter((message) => JSON.stringify(message).includes('switched to branch-'));
    expect(withFacts).toHaveLength(5);
    expect(withFacts.every((message) => message.role === (role ?? 'user'))).toBe(true);
    // The user's words are never in a result.
    const results = JSON.stringify(sent, (name, value: unknown) => (name === 'text' ? undefined : value));
    expect(JSON.stringify(sent)).toContain('Also do 3.');
    expect(results).not.toContain('Also do 3.');
    expect(await headless.events(id)).toContain(`"origin":{"api":"${list === 'input' ? 'responses' : 'messages'}"`);
  });

  test('after a restart the conversation continues with the same prefix', async () => {
    const endpoint = await start();
    redirect(baseUrl, endpoint.address);
    const { headless, say, id } = await walk(baseUrl, model);
    await say('Look around.');
    const again = await headless.restart({
      model: createModel({ baseUrl, model, apiKey: async () => 'k' }),
    });
    atTestEnd(() => again.end());
    expect(await again.earshot.open(id)).toMatchObject({ ok: true });
    await again.earshot.send(id, 'Go on.');
    await again.earshot.settled(id);
    expect(endpoint.refusals).toEqual([]);
    expect(findChangedPrefix(endpoint.requests, list, ['cache_control', 'diagnostics'])).toBeUndefined();
  });
});

test('half of an answer that Claude refused is shown and explained, but not sent again', async () => {
  const baseUrl = 'https://api.anthropic.com';
  const endpoint = await startAnthropic((number) =>
    number === 0
      ? { content: [textContent('Half of it')], stop: 'refusal', details: { category: 'cyber' } }
      : { content: [textContent('Hello.')] },
  );
  redirect(baseUrl, endpoint.address);
  const { headless, say, id } = await walk(baseUrl, 'claude-opus-5-5');
  await headless.earshot.send(id, 'Break in.');
  await headless.earshot.settled(id);
  expect(await headless.events(id)).toContain('"code":"content_refused"');
  await say('Hello?');
  expect(JSON.stringify(endpoint.requests[1]?.body['messages'])).not.toContain('Half of it');
  expect(await headless.events(id)).toContain('Half of it');
  expect(endpoint.refusals).toEqual([]);
});

test('an answer of reasoning only is requested once more', async () => {
  const baseUrl = 'https://api.openai.com/v1';
  const endpoint = await startOpenAi((number) => ({
    items: number === 0 ? [reasoningItem('Hm.')] : [reasoningItem('Hm.'), textItem('Hello.')],
  }));
  redirect(baseUrl, endpoint.address);
  const { say } = await walk(baseUrl, 'gpt-6-sol');
  await say('Hello?');
  expect(endpoint.requests).toHaveLength(2);
  expect(endpoint.requests[1]?.body).toEqual(endpoint.requests[0]?.body);
});
