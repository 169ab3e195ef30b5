// The prefix rule over random conversations: each request extends the one before it, as core builds it and as chat
// endpoints and the models of VS Code get it, unless the log has a compaction between them. Answers come from any of the
// endpoints, with what its API returned; notifications are in the host's own form or in results.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type ModelPart, type ModelRequest } from '../../../src/core/ports/ports.ts';
import { prefixBreak } from '../../../src/core/prompt/promptState.ts';
import { printBody } from '../../../src/models/chat/chatModel.ts';
import { type WireOrigin } from '../../../src/protocol/event.ts';
import { shippedProfile } from '../../../src/models/profile.ts';
import { PrefixPrinter } from '../../../src/models/wire/prefixPrinter.ts';
import { createScriptedModel } from '../../support/models/scriptedModel.ts';
import { vscodeParts } from '../../support/models/vscodeMessages.ts';
import { runs } from '../../support/runs.ts';
import { beginPrefixWalk, call, type PrefixWalk } from '../../support/walk/prefixWalks.ts';

type Action =
  | { readonly type: 'instructions'; readonly folder: string; readonly text: string | undefined }
  | { readonly type: 'mode'; readonly mode: string }
  | { readonly type: 'tool'; readonly server: string | undefined; readonly name: string; readonly text: string }
  | { readonly type: 'skill' | 'day' | 'restart' | 'compact' | 'schema' };

const folder = fc.constantFrom('', 'pkg/', 'pkg/deep/');
const text = fc.constantFrom('One.', 'Two.', 'Three\nlines\nlong.');
const action: fc.Arbitrary<Action> = fc.oneof(
  fc.record({ type: fc.constant('instructions' as const), folder, text: fc.option(text, { nil: undefined }) }),
  fc.record({ type: fc.constant('mode' as const), mode: fc.constantFrom('plan', 'agent') }),
  fc.record({
    type: fc.constant('tool' as const),
    server: fc.constantFrom(undefined, 'alpha', 'beta'),
    name: fc.constantFrom('x', 'y', 'z'),
    text,
  }),
  fc.record({ type: fc.constantFrom('skill', 'day', 'restart', 'compact', 'schema') }),
);
const step = fc.record({
  action,
  /** The endpoint whose model answers; undefined: an answer without a form of its own. */
  from: fc.option(fc.nat(9), { nil: undefined }),
  /** Whether this model takes messages of the host. */
  host: fc.boolean(),
  reads: fc.array(fc.constantFrom('a.ts', 'pkg/a.ts', 'pkg/deep/a.ts'), { maxLength: 2 }),
});

/** Endpoints whose messages are never merged. */
const ENDPOINTS = [
  ['http://localhost:8080/v1', 'local'],
  ['https://api.openai.com/v1', 'gpt-5.4'],
  ['https://api.deepseek.com/v1', 'deepseek-v4-pro'],
  ['https://api.mistral.ai/v1', 'mistral-large'],
  ['https://openrouter.ai/api/v1', 'anthropic/claude-opus-5'],
  ['https://api.moonshot.ai/v1', 'kimi-k3'],
  ['https://generativelanguage.googleapis.com/v1beta/openai', 'gemini-3-pro'],
  ['https://api.z.ai/api/paas/v4', 'glm-5.3'],
  ['https://dashscope-intl.aliyuncs.com/compatible-mode/v1', 'qwen3-coder'],
  ['https://api.fireworks.ai/inference/v1', 'kimi-k3'],
] as const;

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** What the endpoint returned for an answer with this many calls, in the field of each vendor. */
function originAt(at: number, calls: number, number: number): WireOrigin {
  const [baseUrl, model] = ENDPOINTS[at % ENDPOINTS.length] ?? ENDPOINTS[0];
  const thought = `Thought ${number}.`;
  const fields: Readonly<Record<string, object>> = {
    'openrouter.ai': {
      reasoning_details: [{ type: 'reasoning.text', text: thought, signature: `s${number}`, index: 0 }],
    },
    'generativelanguage.googleapis.com': {
      calls: Array.from({ length: calls }, (_, index) =>
        index === 0 ? { google: { thought_signature: thought } } : null,
      ),
    },
    'api.mistral.ai': { reasoning: thought },
  };
  const { origin: provider, hostname } = new URL(baseUrl);
  return { api: 'chat', provider, model, items: [fields[hostname] ?? { reasoning_content: thought }] };
}

interface Sent {
  readonly request: ModelRequest;
  readonly rebuilds: number;
}

async function play(steps: readonly Step[]) {
  const sent: Sent[] = [];
  const base = createScriptedModel();
  const current: { walk?: PrefixWalk } = {};
  async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelPart> {
    sent.push({ request, rebuilds: current.walk?.log.state.prefix.rebuilds ?? 0 });
    let calls = 0;
    for await (const part of base.stream(request, signal)) {
      if (part.type === 'tool_call') calls += 1;
      const { from } = answering;
      const isOwn = part.type === 'finished' && from !== undefined;
      yield isOwn ? { ...part, origin: originAt(from, calls, sent.length) } : part;
    }
  }
  let answering: Pick<Step, 'from' | 'host'> = { from: undefined, host: false };
  const model = Object.defineProperty({ ...base, stream }, 'takesHostMessages', {
    get: () => answering.host,
    enumerable: true,
  });
  const walk = await beginPrefixWalk({ ports: { model: () => model } });
  current.walk = walk;
  for (const path of ['a.ts', 'pkg/a.ts', 'pkg/deep/a.ts']) await walk.put(path, `export const path = '${path}';\n`);
  const tools = new Map<string, { dispose(): void }>();
  let number = 0;
  const first: Step = { action: { type: 'day' }, reads: [], from: undefined, host: false };
  for (const { action: one, reads, ...next } of [first, ...steps]) {
    number += 1;
    answering = next;
    const schema = one.type === 'schema' ? { type: 'object' } : undefined;
    await change(walk, one, tools, number);
    base.script(...reads.map((path, index) => call(`c${number}_${index}`, 'read_file', { path })), {
      text: '{}',
    });
    const message = one.type === 'compact' ? '/compact' : `Message ${number}.`;
    await walk.headless.earshot.send(walk.id, message, schema && { schema });
    await walk.headless.earshot.settled(walk.id);
  }
  await walk.headless.close();
  for (const tool of tools.values()) tool.dispose();
  return sent;
}

async function change(walk: PrefixWalk, one: Action, tools: Map<string, { dispose(): void }>, number: number) {
  switch (one.type) {
    case 'instructions':
      return walk.put(`${one.folder}AGENTS.md`, one.text).catch(() => undefined);
    case 'mode':
      walk.set('mode', one.mode);
      return;
    case 'tool': {
      const name = `${one.server ?? 'own'}__${one.name}`;
      tools.get(name)?.dispose();
      tools.set(name, walk.offer(one.server, name, one.text));
      return;
    }
    case 'skill':
      return walk.put(`.claude/skills/s${number}/SKILL.md`, `---\nname: s${number}\ndescription: Does.\n---\nDo.\n`);
    case 'day':
      walk.clock.advance(24 * 60 * 60 * 1000);
      return;
    case 'restart':
      tools.clear();
      return walk.restart();
    default:
      return;
  }
}

/** The messages and tools of a body; where its cache ends moves on with each request. */
function bodyOf([baseUrl, model]: (typeof ENDPOINTS)[number], request: ModelRequest) {
  const facts = { profile: shippedProfile(baseUrl, model), without: [] };
  const options = { baseUrl, model, apiKey: async () => 'k' };
  const text = printBody(options, request, facts, new Map(), new PrefixPrinter()).toString();
  const withoutCache = (key: string, value: unknown) => (key === 'cache_control' ? undefined : value);
  const { messages, tools } = JSON.parse(text) as { messages: unknown[]; tools?: unknown[] };
  return { messages, tools: tools ?? [], print: (part: unknown) => JSON.stringify(plain(part), withoutCache) };
}

/** A text as a single part equals the same text as a string. */
function plain(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('content' in value) || !Array.isArray(value.content))
    return value;
  const [part, ...others] = value.content as { type?: string; text?: string }[];
  return others.length === 0 && part?.type === 'text' ? { ...value, content: part.text } : value;
}

test('request n+1 extends request n unless a compaction lies between', { timeout: 120_000 }, async () => {
  const seen = new Set<string>();
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 8 }), async (steps) => {
      const sent = await play(steps);
      for (const [index, { request, rebuilds }] of sent.entries()) {
        const before = sent[index - 1];
        if (before === undefined || before.rebuilds !== rebuilds) continue;
        expect(prefixBreak(before.request, request)).toBeUndefined();
        for (const message of request.messages) {
          if (message.role === 'assistant') seen.add(message.origin?.provider ?? '');
          else seen.add(message.block?.format ?? '');
        }
        for (const endpoint of ENDPOINTS) {
          const [old, now] = [bodyOf(endpoint, before.request), bodyOf(endpoint, request)];
          for (const part of ['messages', 'tools'] as const) {
            expect(now[part].slice(0, old[part].length).map(now.print)).toEqual(old[part].map(old.print));
          }
        }
        const [old, now] = [await vscodeParts(before.request), await vscodeParts(request)];
        expect(now.slice(0, old.length)).toEqual(old);
      }
    }),
    { numRuns: runs(20, 300) },
  );
  expect([...seen]).toEqual(expect.arrayContaining(['developer', 'xml', 'https://api.deepseek.com']));
});
