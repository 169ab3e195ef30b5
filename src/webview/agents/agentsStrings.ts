// UI strings of the Agents view.
import type { AgentView } from '../../protocol/page/agentsView.ts';
import { t } from '../strings/l10n.ts';

export const agentsStrings = {
  agents: t('Agents'),
  thisWindow: t('This window'),
  thisMachine: t('This machine'),
  machine: (name: string) => t('Machine {0}', name),
  notConnected: t('Not connected'),
  threads: t('Threads'),
  off: t('Agents can exchange messages in a trusted folder while earshot.hub.enabled is on.'),
  connecting: t('Connecting to the hub…'),
  noThreads: t('No messages yet. Write to an agent to start a thread.'),
  kinds: {
    me: t('You'),
    user: t('User of another window'),
    here: t('Conversation of this window'),
    window: t('Conversation of another window'),
    other: t('Agent'),
    remote: t('Agent'),
  } satisfies Record<AgentView['kind'], string>,
  /** No window has the conversation open. */
  closed: t('Closed conversation'),
  subagent: (parent: string) => (parent === '' ? t('Subagent') : t('Subagent of {0}', parent)),
  on: (machine: string) => t('on {0}', machine),
  activities: { approval: t('Needs approval'), question: t('Needs an answer'), running: t('Running') },
  live: t('Connected'),
  away: (age: string) => t('Last seen {0}', age),
  unread: (count: number) => (count === 1 ? t('1 unread') : t('{0} unread', count)),
  writeTo: (name: string) => t('Write to {0}', name),
  openConversation: t('Open Conversation'),
  back: t('Back to all threads'),
  newThreadWith: (name: string) => t('New thread with {0}', name),
  title: t('Title (optional)'),
  message: t('Message'),
  placeholder: t('Write a message; @ names an agent'),
  mention: t('Agents to mention'),
  files: t('Files it is about, separated by commas (optional)'),
  send: t('Send'),
  sentTo: (names: string) => t('To {0}', names),
  nobody: t('Nobody is mentioned: agents that follow its files or all messages are notified.'),
  deleted: t('This message was deleted.'),
  edited: t('edited'),
  pendingIn: (names: string) => t('Pending: the model of {0} has not received it yet', names),
  messageCount: (count: number) => (count === 1 ? t('1 message') : t('{0} messages', count)),
  notSent: (problem: string) => t('The message was not sent: {0}', problem),
  machines: {
    connected: t('Joined with other machines.'),
    connecting: t('Connecting to the hubs of other machines…'),
    refused: t('Other machines cannot be reached.'),
  } as Readonly<Record<string, string>>,
  waiting: (count: number) =>
    count === 1
      ? t('1 message has not reached other machines yet.')
      : t('{0} messages have not reached other machines yet.', count),
  full: t('The stream between the machines is full. Messages stay on this machine until there is room.'),
};
