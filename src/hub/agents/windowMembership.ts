// A window as a member of its folder's hub: makes its conversations and its user agents.
import { userInfo } from 'node:os';
import { basename } from 'node:path';
import { ignore } from '../../base/async.ts';
import { type Disposable, DisposableStore } from '../../base/disposable.ts';
import { type Emitter } from '../../base/emitter.ts';
import { type AgentConversation, type IncomingMessage, type MessagingAgent } from '../../core/ports/agentHub.ts';
import { AgentMessages } from '../client/agentMessages.ts';
import { HubAgent } from '../client/hubAgent.ts';
import { connectToHub, readAddress } from '../client/hubConnection.ts';
import { type HubState, readHubState } from '../client/hubState.ts';
import { joinHub, type MembershipDeps } from '../client/joinHub.ts';
import { type LinkWatch } from '../client/linkWatch.ts';
import { claimNewName } from './agentNames.ts';
import { UserAgent } from './userAgent.ts';

/** The module that identifies conversations of Earshot among the agents. */
export const CONVERSATION_MODULE = 'earshot';
/** A conversation on the hub, until it is disposed of. */
export interface JoinedConversation extends Disposable {
  readonly messages: MessagingAgent;
  /** Undefined until it has got one. */
  readonly name: string | undefined;
}

export interface WindowMembership {
  /** On the hub as long as the window is, so that agents can write to the user at any time. */
  readonly user: UserAgent;
  readonly link: LinkWatch;
  join(conversation: AgentConversation): JoinedConversation;
  /** Unregisters names of conversations that are closed. */
  forget(names: Iterable<string>): Promise<void>;
  /** Asks the hub once. Undefined: no process serves it at present. */
  readState(): Promise<HubState | undefined>;
  /** Leaves the hub. If this process serves it, resolves once all is on disk and another process can take over. */
  close(): Promise<void>;
}

export interface WindowMembershipDeps extends MembershipDeps {
  readonly role: string;
  /** Converts a path of the workspace to the form that scopes on this hub use. */
  toScope(path: string): string;
  /** Messages for the conversations of this window. */
  readonly received: Pick<Emitter<IncomingMessage>, 'fire'>;
  /** Called when a conversation has got its name. */
  onNamed(): void;
}

export async function joinAsWindow(deps: WindowMembershipDeps): Promise<WindowMembership> {
  const { files, report } = deps;
  const { folder, member, link } = await joinHub(deps);
  const onAbsent = () => void member.look().catch((error: unknown) => report('the hub could not be taken over', error));
  const user = new UserAgent({ ...deps, folder, userName: userInfo().username, onAbsent });
  return {
    user,
    link,
    join: (conversation) => joinConversation({ ...deps, folder, onAbsent }, conversation),
    forget: async (names) => {
      const address = await readAddress(files, folder);
      if (address === undefined) return;
      const connection = await connectToHub(address, ignore, (error) => report('a push could not be read', error));
      try {
        for (const name of names) await connection.call('agent.unregister', { agent_id: name });
      } finally {
        connection.close();
      }
    },
    readState: () => readHubState(files, folder),
    close: async () => {
      link.dispose();
      user.dispose();
      await member.close();
    },
  };
}

/** Makes a conversation an agent, with a name, subscriptions to the files that it has seen, and messages. */
function joinConversation(
  deps: WindowMembershipDeps & { readonly folder: string; onAbsent(): void },
  conversation: AgentConversation,
): JoinedConversation {
  const { role, toScope, received, onNamed, report } = deps;
  const hub = basename(deps.folder);
  const place = conversation.place(hub);
  const agent = new HubAgent({
    ...deps,
    agent: { role, module: CONVERSATION_MODULE, display: conversation.title() },
    name: place?.name ?? ((call) => claimNewName(call, conversation.name())),
    cursor: place?.cursor,
    report: (message, error) => report(`the agent of conversation ${conversation.id}: ${message}`, error),
    onNamed: async (name, cursor) => {
      await conversation.remember(hub, { name, cursor });
      agent.subscribe({ mentionRole: name });
      onNamed();
    },
  });
  if (place !== undefined) agent.subscribe({ mentionRole: place.name });
  const see = (paths: Iterable<string>) => {
    for (const path of paths) agent.subscribe({ scope: { type: 'file', value: toScope(path) } });
  };
  see(conversation.seenPaths());
  const held = new DisposableStore();
  held.add(conversation.onDidSee(see));
  held.add(conversation.onDidChangeTitle(() => agent.setDisplay(conversation.title())));
  held.add(
    agent.onMessage((message) => {
      received.fire({ ...message, conversation: conversation.id, hub, name: agent.name ?? '' });
    }),
  );
  held.add(agent);
  return {
    messages: new AgentMessages({ ...deps, agent }),
    get name() {
      return conversation.place(hub)?.name;
    },
    dispose: () => held.dispose(),
  };
}
