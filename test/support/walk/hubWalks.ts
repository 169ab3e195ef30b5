// Windows without an editor on the hub of one folder, each with its own scripted model.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ConversationLog } from '../../../src/core/conversation/log.ts';
import { type MessagingAgent } from '../../../src/core/ports/agentHub.ts';
import { joinAsWindow } from '../../../src/hub/agents/windowMembership.ts';
import { createChatModel } from '../../../src/models/chat/chatModel.ts';
import { createMessagesProducer } from '../../../src/producers/messages.ts';
import { type LogEvent } from '../../../src/protocol/event.ts';
import { createMessageTools } from '../../../src/tools/messageTools.ts';
import { WindowHub } from '../../../src/vscode/hub/windowHub.ts';
import { atTestEnd } from '../endings.ts';
import { type ScriptedAnswer, type ScriptedServer, startScriptedServer } from '../models/scriptedServer.ts';
import { type Headless, type HeadlessOptions, startHeadless } from './headless.ts';
import { realHubDeps } from '../testHub.ts';

export interface HubWindow {
  readonly headless: Headless;
  readonly hub: WindowHub;
  readonly server: ScriptedServer;
  readonly log: ConversationLog;
  readonly id: string;
  /** The conversation's name on the hub. */
  name(): Promise<string>;
  /** Resolves once the log has such an event, before or after the call. */
  event(holds: (event: LogEvent) => boolean): Promise<LogEvent>;
  events(): Promise<readonly LogEvent[]>;
}

/** The home folder of all windows of a test, which contains the hub's files. */
export async function makeHome(): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), 'earshot-home-'));
  atTestEnd(() => rm(home, { recursive: true, force: true }));
  return home;
}

/** Joins the hub of a folder once `refresh` is called and the folder is known. It leaves when the test ends. */
export function createTestHub(home: string, folderOf: () => string, role = ''): WindowHub {
  const hub = new WindowHub({
    options: () => {
      const folder = folderOf();
      return folder === '' ? undefined : { folder, role, port: 0, identity: '', allowedOrigins: [] };
    },
    join: (options, events) =>
      joinAsWindow({
        ...realHubDeps,
        ...options,
        workspaceFolder: options.folder,
        home,
        identity: undefined,
        toScope: (path) => path,
        ...events,
      }),
    report: (message, error) => {
      throw new Error(message, { cause: error });
    },
  });
  atTestEnd(async () => {
    await hub.close();
    hub.dispose();
  });
  return hub;
}

/** Lists the agents as a conversation of the window. */
export async function listAgents(hub: WindowHub, conversation: string): ReturnType<MessagingAgent['agents']> {
  const agent = hub.agentOf(conversation);
  return agent.ok ? agent.value.agents() : agent;
}

/** `on`: a window whose folder the new window shares. */
export async function openHubWindow(
  home: string,
  answers: readonly ScriptedAnswer[],
  { on, settings = {}, role = '' }: { on?: HubWindow; settings?: HeadlessOptions['settings']; role?: string } = {},
): Promise<HubWindow> {
  const server = await startScriptedServer(...answers);
  atTestEnd(() => server.stop());
  const model = createChatModel({ baseUrl: server.baseUrl, model: 'm', apiKey: async () => 'k' });
  let folder = '';
  const hub = createTestHub(home, () => folder, role);
  const options: HeadlessOptions = {
    model,
    settings: { 'approvals.mode': 'all', 'notifications.activation': 'passive', ...settings },
    ports: { hub },
    producers: ({ clock, logger }) => [createMessagesProducer({ hub, clock, logger })],
  };
  const headless = on === undefined ? await startHeadless(options) : await on.headless.second(model, options);
  ({ folder } = headless);
  atTestEnd(() => headless.end());
  const tools = headless.earshot.tools.register(createMessageTools(hub));
  atTestEnd(async () => tools.dispose());
  await hub.refresh();
  const opened = await headless.earshot.create();
  if (!opened.ok) throw new Error(opened.failure.message);
  const { log } = opened.value;
  const events = async () =>
    (await headless.events(log.id))
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as LogEvent);
  const event: HubWindow['event'] = (holds) =>
    new Promise((found, failed) => {
      const listening = log.onDidAppend(({ event: appended }) => {
        if (!holds(appended)) return;
        listening.dispose();
        found(appended);
      });
      events().then((before) => {
        const known = before.find(holds);
        if (known === undefined) return;
        listening.dispose();
        found(known);
      }, failed);
    });
  const name = async () => {
    const named = await event(({ type }) => type === 'hub_agent');
    return named.type === 'hub_agent' ? named.name : '';
  };
  return { headless, hub, server, log, id: log.id, name, event, events };
}
