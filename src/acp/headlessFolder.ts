// Sessions in this process: each is a conversation of the folder's own Earshot.
import { type Disposable } from '../base/disposable.ts';
import { type Failure, failed, type Result, succeeded } from '../base/errors.ts';
import { type Earshot } from '../core/earshot.ts';
import { type Snapshots, type Store } from '../core/ports/storage.ts';
import { type ClientServer } from '../protocol/outside/acp.ts';
import { scopeOf } from '../protocol/scopes.ts';
import { type Settings } from '../protocol/settings.ts';
import {
  type ClientNotification,
  type FolderListener,
  NO_CONVERSATION,
  type SessionFolder,
  type SlashCommand,
} from './sessionFolder.ts';
import { modelsOf } from './sessionState.ts';

/** Earshot for one folder, without an editor. */
export interface FolderAgent {
  readonly folder: string;
  readonly earshot: Earshot;
  readonly store: Pick<Store, 'list' | 'read'>;
  readonly snapshots: Pick<Snapshots, 'get'>;
  settings(): Settings;
  addServers(servers: readonly ClientServer[]): void;
  commands(): Promise<readonly SlashCommand[]>;
  /** Ends the commands of a conversation. */
  stopCommands(conversation: string): Promise<void>;
  /** Ends every turn and closes every file. */
  close(): Promise<void>;
}

export function createHeadlessFolder(agent: FolderAgent, listener: FolderListener): SessionFolder {
  const { folder, earshot, store, snapshots } = agent;
  /** Open sessions, each with the last event that `open` returned. */
  const opened = new Map<string, number>();
  const failures = new Map<string, Failure>();
  const listening: Disposable = earshot.onDidChange(({ conversation, folded }) => {
    const since = opened.get(conversation);
    if (folded === undefined || since === undefined) return;
    const { event } = folded;
    if (event.type === 'turn_ended' && event.failure !== undefined) {
      failures.set(conversation, event.failure as Failure);
    }
    if (event.seq > since) listener.event(conversation, event);
  });
  const turnOf = (session: string) => earshot.get(session)?.log.state.turn;
  return {
    folder,
    snapshots,
    effectOf: (tool) => earshot.tools.known(tool)?.effect,
    traitsOf: (tool) => earshot.tools.traits(tool),
    keyOf: (session) => turnOf(session)?.key ?? '',
    settings: async (session) => {
      const { model, settings, choice } = earshot.choices.of(session);
      const { efforts } = model;
      return { ...settings, models: modelsOf(agent.settings()), efforts, effort: choice.effort };
    },
    choose: (session, choice) => earshot.choices.choose(session, choice),
    addServers: (servers) => agent.addServers(servers),
    commands: () => agent.commands(),
    create: async () => {
      const created = await earshot.create();
      if (!created.ok) return created;
      opened.set(created.value.log.id, 0);
      return succeeded(created.value.log.id);
    },
    list: async () => {
      const listed = await store.list();
      if (!listed.ok) return listed;
      return succeeded(
        listed.value.map(({ id, title, lastActivity }) => ({ id, title, at: new Date(lastActivity).toISOString() })),
      );
    },
    open: async (session) => {
      const listed = await store.list();
      if (!listed.ok) return listed;
      const isKnown = listed.value.some(({ id }) => id === session) || earshot.get(session) !== undefined;
      if (!isKnown) return notFound(session);
      const live = await earshot.open(session);
      if (!live.ok) return live;
      const read = await store.read(session);
      if (!read.ok) return read;
      opened.set(session, read.value.events.at(-1)?.seq ?? 0);
      return succeeded(read.value.events);
    },
    prompt: async (session, text, attachments) => {
      const sent = await earshot.send(session, text, { attachments });
      if (!sent.ok) return sent;
      const turn = turnOf(session);
      await earshot.settled(session);
      if (turn?.outcome === 'error') return whyFailed(failures.get(session));
      return succeeded({ stopped: turn?.outcome === 'stopped' });
    },
    stop: (session) => earshot.stop(session),
    notify: async (session, notification) => {
      await earshot.publish(draftOf(session, notification), session);
      return succeeded(undefined);
    },
    close: async () => {
      listening.dispose();
      // No user is left who could see or stop what runs.
      for (const session of opened.keys()) {
        await earshot.stop(session);
        await agent.stopCommands(session);
      }
      await agent.close();
    },
  };
}

export function notFound(session: string): Result<never> {
  return failed(NO_CONVERSATION, `There is no session ${session.slice(0, 100)} in this folder.`);
}

function whyFailed(failure: Failure | undefined): Result<never> {
  return failure === undefined ? failed('bug', 'The turn failed.') : { ok: false, failure };
}

function draftOf(session: string, { name, level, message }: ClientNotification) {
  return {
    kind: { source: 'client', name },
    // A client must not interrupt the model, which a critical notification would do.
    level: level === 'critical' ? ('error' as const) : level,
    message,
    scopes: [scopeOf('conversation', session)],
    origin: 'plugin' as const,
    at: new Date().toISOString(),
  };
}
