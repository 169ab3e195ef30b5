// Reports events of MCP servers: lost and restored connections, changed tools and resources, and messages of servers.
import { type Disposable, DisposableStore, toDisposable } from '../base/disposable.ts';
import { wholeCharacters } from '../base/text.ts';
import { type McpChange, type McpSource } from '../core/ports/mcp.ts';
import { type Producer, type Publisher } from '../core/ports/ports.ts';
import {
  type DeliveryPoint,
  type LiveConversations,
  type OfferedServer,
  type Sample,
} from '../core/ports/producers.ts';
import { listFirst } from '../core/notify/wording/gitChange.ts';
import { KINDS } from '../protocol/kinds.ts';
import { type NotificationDraft } from '../protocol/notification.ts';
import { resourceName, scopeOf } from '../protocol/scopes.ts';
import { describeMessage } from './mcpEvents/eventReports.ts';
import { McpEvents, type McpEventsDeps } from './mcpEvents/mcpEvents.ts';

const UPDATED = { source: 'mcp', name: 'resource_updated' };
const NAMED = 12;

export interface McpProducerDeps extends McpEventsDeps {
  readonly source: McpSource;
}

export function createMcpProducer(deps: McpProducerDeps): { readonly producer: Producer; readonly events: McpEvents } {
  const events = new McpEvents(deps);
  const producer: Producer = {
    name: 'mcp',
    start: (publisher, _seen, { live }) => watchServers(deps, events, publisher, live),
    sample: (point) => sampleServers(deps.source, point),
  };
  return { producer, events };
}

function watchServers(
  { source, clock, logger }: McpProducerDeps,
  events: McpEvents,
  publisher: Publisher,
  live: LiveConversations,
): Disposable {
  const report = (error: unknown) => logger.error('what happened to an MCP server could not be reported', error);
  const held = new DisposableStore();
  held.add(
    source.onDidChange((change) => {
      if (change.type === 'read') {
        const subject = scopeOf('resource', resourceName(change.server, change.uri));
        void publisher.withdraw(UPDATED, subject, 'it was read again', change.conversation).catch(report);
        return;
      }
      const at = new Date(clock.now()).toISOString();
      const draft = { ...draftOf(change), at };
      const published =
        change.type === 'event' ? publishMessage(draft, change.server, publisher, live) : publisher.publish(draft);
      void published.catch(report);
    }),
  );
  held.add(events.start(publisher, live));
  held.add(live.onDidChange(() => source.watch(live.resources())));
  held.add(toDisposable(() => source.watch(new Set())));
  source.watch(live.resources());
  return held;
}

/** To the conversations that use the server, and to those that subscribed: these may be woken by the user's grant. */
async function publishMessage(
  draft: NotificationDraft,
  server: string,
  publisher: Publisher,
  live: LiveConversations,
): Promise<void> {
  const subscriptionOf = (id: string) =>
    [...(live.events(id)?.all.values() ?? [])].find(
      (one) => one.server === server && one.mode === 'channel' && !one.paused,
    );
  if (!live.ids().some(subscriptionOf)) {
    await publisher.publish(draft);
    return;
  }
  await Promise.all(
    live.ids().map((id) => {
      const subscription = subscriptionOf(id);
      if (subscription === undefined) return publisher.publish(draft, id);
      const { event, grant, name } = subscription;
      const scopes = [...(draft.scopes ?? []), scopeOf('mcp', `${server}/${event}`), scopeOf('conversation', id)];
      const wakes = grant === undefined ? {} : { wake: true as const, grant };
      return publisher.publish({ ...draft, scopes, data: { from: server, subscription: name }, ...wakes }, id);
    }),
  );
}

function draftOf(change: Exclude<McpChange, { type: 'read' }>): Omit<NotificationDraft, 'at'> {
  const { server } = change;
  const subject = scopeOf('mcp', server);
  const about = { subject, scopes: [subject] };
  switch (change.type) {
    case 'lost':
      return { ...kindOf('disconnected'), ...about, message: describeLoss(change) };
    case 'resource': {
      const resource = scopeOf('resource', resourceName(server, change.uri));
      const message = `The resource ${wholeCharacters(change.uri, 500)} of the MCP server “${server}” has changed since it was read. read_resource has its content now.`;
      return {
        ...kindOf('resource_updated'),
        subject: resource,
        scopes: [resource],
        message,
        data: { state: 'changed' },
      };
    }
    case 'event':
      return { ...kindOf('event'), scopes: [subject], message: describeMessage(server, change.text) };
  }
}

function kindOf(name: 'disconnected' | 'resource_updated' | 'event') {
  const { level, origin } = KINDS[`mcp.${name}`];
  return { kind: { source: 'mcp', name }, level, origin };
}

function describeLoss({ server, reason, tools }: Extract<McpChange, { type: 'lost' }>): string {
  const named =
    tools.length === 0 ? 'It had no tools' : `Its tools cannot be called until it is back: ${listFirst(tools, NAMED)}`;
  return `The MCP server “${server}” is not connected any more: ${reason}. ${named}. State that it kept may be gone. Earshot tries to connect again.`;
}

/** Compares states, so that a loss that is already over, and tools that are unchanged in the end, are not reported. */
function sampleServers(source: McpSource, point: DeliveryPoint): readonly Sample[] {
  const connected = source.servers().filter(({ state }) => state === 'ready');
  return [...connected.flatMap(({ name }) => sampleRecovery(name)), ...compareTools(point, source)];
}

/** The queue drops the recovery unless the conversation was notified of the loss. */
function sampleRecovery(server: string): readonly Sample[] {
  const subject = scopeOf('mcp', server);
  const { level, origin } = KINDS['mcp.reconnected'];
  const message = `The MCP server “${server}” is connected again. State that it kept may be gone.`;
  return [
    { kind: { source: 'mcp', name: 'disconnected' }, subject },
    { kind: { source: 'mcp', name: 'reconnected' }, subject, draft: { level, origin, message } },
  ];
}

function compareTools({ used, config }: DeliveryPoint, source: McpSource): readonly Sample[] {
  const before = new Map((used.servers ?? config.servers).map((server) => [server.name, server]));
  const after = new Map(config.servers.map((server) => [server.name, server]));
  return [...new Set([...before.keys(), ...after.keys()])].map((name) => {
    const sample = { kind: { source: 'mcp', name: 'tools_changed' }, subject: scopeOf('mcp', name) };
    const message = describeToolChange(name, before.get(name), after.get(name), source);
    const { level, origin } = KINDS['mcp.tools_changed'];
    return message === undefined ? sample : { ...sample, draft: { level, origin, message } };
  });
}

function describeToolChange(
  name: string,
  before: OfferedServer | undefined,
  after: OfferedServer | undefined,
  source: McpSource,
): string | undefined {
  const [old, now] = [before?.tools ?? {}, after?.tools ?? {}];
  const added = Object.keys(now).filter((tool) => old[tool] === undefined);
  const removed = Object.keys(old).filter((tool) => now[tool] === undefined);
  const changed = Object.keys(now).filter((tool) => old[tool] !== undefined && old[tool] !== now[tool]);
  const parts = [
    ...list('added', added),
    ...list('no longer there', removed),
    ...list('with another description or schema', changed),
  ];
  if (parts.length === 0) return undefined;
  const { problem } = source.servers().find((server) => server.name === name) ?? {};
  const why = after === undefined && problem !== undefined ? ` (${problem})` : '';
  const find = added.length + changed.length === 0 ? '' : ' find_tools describes them if you were not given them.';
  return `Tools of the MCP server “${name}” since your last answer${why}: ${parts.join('; ')}.${find}`;
}

function list(what: string, names: readonly string[]): string[] {
  return names.length === 0 ? [] : [`${what}: ${listFirst(names, NAMED)}`];
}
