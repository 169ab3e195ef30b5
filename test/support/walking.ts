// A conversation with a scripted endpoint, time turned by hand, and its golden transcript beside the test.
import { expect } from 'vitest';
import { type ConversationLog } from '../../src/core/conversation/log.ts';
import { type Model } from '../../src/core/ports/ports.ts';
import { type Services } from '../../src/core/tools/services.ts';
import { createOpenAiModel } from '../../src/models/openai/openai.ts';
import { type ModelOptions, type SettingName } from '../../src/protocol/settings.ts';
import { atTestEnd } from './endings.ts';
import { type Headless, type HeadlessOptions, startHeadless } from './headless.ts';
import { createManualClock, type ManualClock } from './manualClock.ts';
import { printWalk } from './printWalk.ts';
import {
  type ReceivedRequest,
  type ScriptedAnswer,
  type ScriptedServer,
  startScriptedServer,
} from './scriptedServer.ts';

export interface Walked {
  readonly headless: Headless;
  readonly server: ScriptedServer;
  readonly clock: ManualClock;
  readonly log: ConversationLog;
  readonly id: string;
  /** Sends, passes the time of every wait that is announced, and resolves at the turn's end. */
  go(text?: string, options?: { readonly schema?: Readonly<Record<string, unknown>> }): Promise<void>;
  /** The messages of a request, without the system prompt. */
  messages(number: number): readonly unknown[];
  /** Compares everything that happened with the file beside the test. */
  golden(path: string, of?: GoldenOf): Promise<void>;
}

interface GoldenOf {
  /** The window that has it now. */
  readonly headless?: Headless;
  /** Of endpoints of the test's own. */
  readonly requests?: readonly ReceivedRequest[];
  /** The ids of other conversations that are part of it. */
  readonly others?: readonly string[];
}

export interface WalkOptions {
  readonly settings?: Partial<Record<SettingName, unknown>>;
  readonly modelOptions?: ModelOptions;
  readonly ports?: Partial<Services>;
  readonly trusted?: boolean;
  readonly checkpoints?: boolean;
  readonly supervisors?: NonNullable<HeadlessOptions['supervisors']>;
  /** Files that are not of the test's own making are watched only where it wants that. */
  readonly watching?: boolean;
}

/** Everything is ended when the test is. */
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
  return createOpenAiModel({ baseUrl: server.baseUrl, model: 'm', options, apiKey: async () => 'k' });
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
      // It is drawn just before the wait begins.
      await Promise.resolve();
      clock.advance(seconds * 1000);
      await next;
    });
  // It waits for ever for a wait that never comes.
  passTime().catch((error: unknown) => expect(error).toBeUndefined());
  const sent = await earshot.send(id, text, options);
  if (!sent.ok) throw new Error(sent.failure.message);
  await earshot.settled(id);
  ended = true;
}
