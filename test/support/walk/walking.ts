// Walks: a conversation with a scripted endpoint, a manual clock and a golden transcript.
import { expect } from 'vitest';
import { type ConversationLog } from '../../../src/core/conversation/log.ts';
import { type Model } from '../../../src/core/ports/ports.ts';
import { type Services } from '../../../src/core/tools/services.ts';
import { createChatModel } from '../../../src/models/chat/chatModel.ts';
import { type ModelOptions, type SettingName } from '../../../src/protocol/settings.ts';
import { atTestEnd } from '../endings.ts';
import { createManualClock, type ManualClock } from '../manualClock.ts';
import {
  type ReceivedRequest,
  type ScriptedAnswer,
  type ScriptedServer,
  startScriptedServer,
} from '../models/scriptedServer.ts';
import { type Headless, type HeadlessOptions, startHeadless } from './headless.ts';
import { printWalk } from './printWalk.ts';

export interface Walked {
  readonly headless: Headless;
  readonly server: ScriptedServer;
  readonly clock: ManualClock;
  readonly log: ConversationLog;
  readonly id: string;
  /** Sends a message, advances the clock over every retry, and resolves at the end of the turn. */
  go(text?: string, options?: { readonly schema?: Readonly<Record<string, unknown>> }): Promise<void>;
  /** The messages of a request, without the system prompt. */
  messages(number: number): readonly unknown[];
  /** Compares the printed walk with a golden file. */
  golden(path: string, of?: GoldenOf): Promise<void>;
}

interface GoldenOf {
  /** The window that owns the conversation now. */
  readonly headless?: Headless;
  /** Requests to the test's own endpoints. */
  readonly requests?: readonly ReceivedRequest[];
  /** The ids of other conversations in the walk. */
  readonly others?: readonly string[];
}

export interface WalkOptions {
  readonly settings?: Partial<Record<SettingName, unknown>>;
  readonly modelOptions?: ModelOptions;
  readonly ports?: Partial<Services>;
  readonly trusted?: boolean;
  readonly checkpoints?: boolean;
  readonly supervisors?: NonNullable<HeadlessOptions['supervisors']>;
  readonly scripts?: NonNullable<HeadlessOptions['scripts']>;
  /** Whether producers run. Default: false. */
  readonly watching?: boolean;
  readonly wakes?: HeadlessOptions['wakes'];
  readonly forge?: HeadlessOptions['forge'];
  readonly lineClock?: NonNullable<HeadlessOptions['lineClock']>;
  /** Instead of the files producer. */
  readonly producers?: NonNullable<HeadlessOptions['producers']>;
}

/** Everything is closed when the test ends. */
export async function beginWalk(answers: readonly ScriptedAnswer[], options: WalkOptions = {}): Promise<Walked> {
  const server = await startScriptedServer(...answers);
  atTestEnd(() => server.stop());
  const clock = createManualClock();
  const headless = await startHeadless({
    model: modelOf(server, options.modelOptions),
    ...(options.settings !== undefined && { settings: options.settings }),
    ...(options.trusted !== undefined && { trusted: options.trusted }),
    ...(options.checkpoints !== undefined && { checkpoints: options.checkpoints }),
    ...(options.supervisors !== undefined && { supervisors: options.supervisors }),
    ...(options.scripts !== undefined && { scripts: options.scripts }),
    ...(options.wakes !== undefined && { wakes: options.wakes }),
    ...(options.forge !== undefined && { forge: options.forge }),
    ...(options.lineClock !== undefined && { lineClock: options.lineClock }),
    ...(options.producers !== undefined && { producers: options.producers }),
    ports: { clock, ...(options.watching !== true && { producers: [] }), ...options.ports },
  });
  atTestEnd(() => headless.end());
  const opened = await headless.earshot.create();
  if (!opened.ok) throw new Error(opened.failure.message);
  const { log } = opened.value;
  return {
    headless,
    server,
    clock,
    log,
    id: log.id,
    go: (text = 'Hello.', sent = {}) => go(headless, clock, log.id, text, sent),
    messages: (number) => {
      const body = server.requests[number]?.body ?? '{"messages":[]}';
      return (JSON.parse(body) as { messages: unknown[] }).messages.slice(1);
    },
    golden: async (path, of = {}) => {
      const { headless: now = headless, requests = server.requests } = of;
      const events = await now.events(log.id);
      const others = await Promise.all((of.others ?? []).map((id) => now.events(id)));
      const { drawn } = now.frontend;
      await expect(printWalk({ events, others, requests, drawn })).toMatchFileSnapshot(path);
      expect(now.errors).toEqual([]);
    },
  };
}

function modelOf(server: ScriptedServer, options: ModelOptions = {}): Model {
  return createChatModel({ baseUrl: server.baseUrl, model: 'm', options, apiKey: async () => 'k' });
}

async function go(
  { earshot, frontend }: Headless,
  clock: ManualClock,
  id: string,
  text: string,
  options: { readonly schema?: Readonly<Record<string, unknown>> },
): Promise<void> {
  let ended = false;
  const passTime = (): Promise<void> =>
    frontend.nextDrawn('retrying').then(async ({ seconds }) => {
      if (ended) return;
      const next = passTime();
      // The retry is rendered just before the wait begins.
      await Promise.resolve();
      clock.advance(seconds * 1000);
      await next;
    });
  // If there is no further retry, this promise never settles.
  passTime().catch((error: unknown) => expect(error).toBeUndefined());
  const sent = await earshot.send(id, text, options);
  if (!sent.ok) throw new Error(sent.failure.message);
  await earshot.settled(id);
  ended = true;
}
