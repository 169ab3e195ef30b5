// A publisher that keeps the pending notifications of each conversation until a test delivers them.
import { type Publisher } from '../../../src/core/ports/ports.ts';
import { type NotificationDraft, printKind } from '../../../src/protocol/notification.ts';

export interface MemoryPublisher extends Publisher {
  /** The pending notifications as kind and first line. */
  pending(conversation: string): string[];
  /** Delivers and returns the pending notifications. */
  deliver(conversation: string): string[];
}

/** `conversations` get the notifications that have no addressee. */
export function createMemoryPublisher(conversations: () => readonly string[]): MemoryPublisher {
  const pending: { readonly draft: NotificationDraft; readonly to: string }[] = [];
  const printPending = ({ draft: { kind, message } }: (typeof pending)[number]) =>
    `${printKind(kind)} ${message.split('\n')[0] ?? ''}`;
  const publisher: MemoryPublisher = {
    publish: async (draft, to, sender) => {
      const listeners = to === undefined ? conversations() : [to];
      for (const one of listeners) if (one !== sender) pending.push({ draft, to: one });
    },
    withdraw: async (kind, subject, _reason, to) => {
      const before = pending.length;
      const matches = (one: (typeof pending)[number]) =>
        printKind(one.draft.kind) === printKind(kind) &&
        one.draft.subject === subject &&
        (to === undefined || one.to === to);
      pending.splice(0, before, ...pending.filter((one) => !matches(one)));
      return pending.length < before;
    },
    pending: (conversation) => pending.filter(({ to }) => to === conversation).map(printPending),
    deliver: (conversation) => {
      const delivered = publisher.pending(conversation);
      pending.splice(0, pending.length, ...pending.filter(({ to }) => to !== conversation));
      return delivered;
    },
  };
  return publisher;
}
