// Names the author of a file change, as far as it was observed.
import { printCommandLine, printPath } from '../../../base/printPath.ts';
import { type UserReview } from '../../ports/producers.ts';
import { type NotificationDraft } from '../../../protocol/notification.ts';

export type Author =
  /** A person undid or restored changes with Earshot: those of the recipient, or of another conversation (`of`). */
  | { readonly type: 'review'; readonly review: UserReview; readonly of?: OtherAgent }
  /** A person saved it in the editor. `applied`: with code from the chat that they had applied to it. */
  | { readonly type: 'user'; readonly applied?: boolean }
  /** It changed while a command ran: the recipient's own, or one of another conversation (`of`). */
  | { readonly type: 'command'; readonly command: string; readonly of?: OtherAgent }
  | { readonly type: 'git' }
  | ({ readonly type: 'conversation' } & OtherAgent)
  | { readonly type: 'outside' }
  /** Earshot was not watching when it happened. */
  | { readonly type: 'unobserved' };

/** Another conversation; `subagent` is its name if it is one. */
export interface OtherAgent {
  readonly title: string;
  readonly subagent?: string;
}

const COMMAND_LIMIT = 80;

/** `, by the user in the editor`; empty if nothing is known. */
export function printAuthor(author: Author | undefined): string {
  switch (author?.type) {
    case undefined:
      return '';
    case 'user':
      return author.applied === true
        ? ', by the user in the editor, who applied code from the chat'
        : ', by the user in the editor';
    case 'review':
      return `, by the user, who ${printReview(author.review, author.of)} with Earshot`;
    case 'command':
      return author.of === undefined
        ? `, while your command ${printCommand(author.command)} was running`
        : `, while a command of ${printConversation(author.of)} was running`;
    case 'git':
      return ', during a git operation';
    case 'conversation':
      return `, by ${printConversation(author)}`;
    case 'outside':
      return ', outside the editor';
    case 'unobserved':
      return ', while Earshot was not listening';
  }
}

export function originOf(author: Author | undefined): NotificationDraft['origin'] {
  if (author?.type === 'user' || author?.type === 'review') return 'editor';
  return author?.type === 'conversation' ? 'agent' : 'filesystem';
}

function printReview(review: UserReview, of: OtherAgent | undefined): string {
  const changes = of === undefined ? 'your changes' : `changes of ${printConversation(of)}`;
  if (review === 'undo') return `undid ${changes}`;
  return review === 'restore' ? 'restored files to their state before a turn' : `reverted an undo of ${changes}`;
}

/** On one line, cut, in backticks. */
export function printCommand(command: string): string {
  const line = printCommandLine(command);
  return `\`${line.length > COMMAND_LIMIT ? `${line.slice(0, COMMAND_LIMIT)}…` : line}\``;
}

function printConversation({ title, subagent }: OtherAgent): string {
  if (subagent !== undefined) return `the subagent “${printPath(subagent)}”`;
  return title === '' ? 'another conversation' : `the conversation “${printPath(title)}”`;
}
