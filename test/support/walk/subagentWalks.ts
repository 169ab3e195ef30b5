// Walks with subagents: the parent and each subagent have their own scripted endpoint, so the order of their requests
// does not matter.
import { createChatModel } from '../../../src/models/chat/chatModel.ts';
import { type Model } from '../../../src/core/ports/ports.ts';
import { type Services } from '../../../src/core/tools/services.ts';
import { type LogEvent } from '../../../src/protocol/event.ts';
import { atTestEnd } from '../endings.ts';
import { type ScriptedAnswer, type ScriptedServer, startScriptedServer } from '../models/scriptedServer.ts';
import { type Headless, type HeadlessOptions, startHeadless } from './headless.ts';

export const done: ScriptedAnswer = { text: ['Done.'] };

let calls = 0;
export function call(name: string, args: object) {
  return { id: `call${calls++}`, name, arguments: args };
}

/** Starts a subagent whose endpoint is the server of the same name. */
export const start = (name: string, more: object = {}) =>
  call('start_agent', { task: `The task of ${name}.`, name, model: name, ...more });

export interface Family {
  headless: Headless;
  readonly id: string;
  /** The parent's endpoint. */
  readonly server: ScriptedServer;
  /** The endpoints of the subagents, by model. */
  readonly agents: Readonly<Record<string, ScriptedServer>>;
  /** Sends a message of the user and resolves at the end of the turn. */
  go(text?: string): Promise<void>;
  /** The conversation id of a subagent that was started. */
  child(name: string): string;
  /** Resolves once the handle of a subagent has ended. */
  ended(name: string): Promise<void>;
  events(conversation?: string): Promise<readonly LogEvent[]>;
  /** Resolves once the log has such an event, before or after the call. */
  event(holds: (event: LogEvent) => boolean, conversation?: string): Promise<LogEvent>;
  /** The messages of notifications about handles that were queued and not withdrawn. */
  delivered(): Promise<readonly string[]>;
  /** Closes the window as a reload does, and opens the conversation in the next one. */
  restart(more?: Partial<HeadlessOptions>): Promise<void>;
}

export async function beginFamily(
  answers: readonly ScriptedAnswer[],
  agents: Readonly<Record<string, readonly ScriptedAnswer[]>>,
  options: { readonly settings?: HeadlessOptions['settings']; readonly ports?: Partial<Services> } & Pick<
    HeadlessOptions,
    'checkpoints' | 'producers'
  > = {},
): Promise<Family> {
  const server = await startScriptedServer(...answers);
  atTestEnd(() => server.stop());
  const servers: Record<string, ScriptedServer> = {};
  for (const [name, script] of Object.entries(agents)) {
    const one = await startScriptedServer(...script);
    servers[name] = one;
    atTestEnd(() => one.stop());
  }
  const models = new Map(Object.entries(servers).map(([name, one]) => [name, modelOf(one, name)]));
  const { settings, ports, ...others } = options;
  const headless = await startHeadless({
    ...others,
    model: modelOf(server, 'm'),
    settings: { 'approvals.mode': 'all', 'notifications.activation': 'passive', ...settings },
    ports: { models: { names: [...models.keys()], get: (name) => models.get(name) }, ...ports },
  });
  atTestEnd(() => family.headless.end());
  const opened = await headless.earshot.create();
  if (!opened.ok) throw new Error(opened.failure.message);
  const { id } = opened.value.log;
  const handleOf = (name: string) => {
    const handle = family.headless.handles.list(id).find((one) => one.name === name);
    if (handle === undefined) throw new Error(`there is no handle ${name}`);
    return handle;
  };
  const events = async (conversation = id) =>
    (await family.headless.events(conversation))
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as LogEvent);
  const family: Family = {
    headless,
    id,
    server,
    agents: servers,
    go: async (text = 'Go.') => {
      const sent = await family.headless.earshot.send(id, text);
      if (!sent.ok) throw new Error(sent.failure.message);
      await family.headless.earshot.settled(id);
    },
    child: (name) => handleOf(name).process.agent?.conversation ?? '',
    ended: (name) => handleOf(name).until((one) => one.hasEnded),
    events,
    event: async (holds, conversation = id) => {
      const live = family.headless.earshot.get(conversation);
      const { promise, resolve } = Promise.withResolvers<LogEvent>();
      const listening = live?.log.onDidAppend(({ event }) => holds(event) && resolve(event));
      const known = (await events(conversation)).find(holds);
      const found = known ?? (await promise);
      listening?.dispose();
      return found;
    },
    delivered: async () => {
      const all = await events();
      const withdrawn = new Set(all.flatMap((event) => (event.type === 'notification_withdrawn' ? event.ids : [])));
      return all.flatMap((event) =>
        event.type === 'notification_queued' &&
        event.notification.kind.source === 'tool' &&
        !withdrawn.has(event.notification.id)
          ? [`${event.notification.kind.name}: ${event.notification.message}`]
          : [],
      );
    },
    restart: async (more) => {
      family.headless = await family.headless.restart(more);
      const again = await family.headless.earshot.open(id);
      if (!again.ok) throw new Error(again.failure.message);
    },
  };
  return family;
}

function modelOf(server: ScriptedServer, model: string): Model {
  return createChatModel({ baseUrl: server.baseUrl, model, apiKey: async () => 'k' });
}

/** The tool results of the last request, as the model reads them. */
export function results(server: ScriptedServer | undefined): string[] {
  const { messages } = JSON.parse(server?.requests.at(-1)?.body ?? '{"messages":[]}') as {
    messages: { role: string; content: unknown }[];
  };
  return messages
    .filter(({ role }) => role === 'tool')
    .map(({ content }) => (typeof content === 'string' ? content : JSON.stringify(content)));
}
