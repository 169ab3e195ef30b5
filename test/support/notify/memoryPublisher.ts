// A publisher that keeps what waits for each conversation, until a test says that it was carried.
import { type Publisher } from '../../../src/core/ports/ports.ts';
import { type NotificationDraft, printKind } from '../../../src/protocol/notification.ts';

export interface MemoryPublisher extends Publisher {
  /** By kind and first line. */
  waiting(conversation: string): string[];
  /** Returns what waited. */
  carry(conversation: string): string[];
}

/** `conversations`: who hears what is for nobody in particular. */
export function createMemoryPublisher(conversations: () => readonly string[]): MemoryPublisher {
  const pending: { readonly draft: NotificationDraft; readonly to: string }[] = [];
  const print = ({ draft: { kind, message } }: (typeof pending)[number]) =>
    `${printKind(kind)} ${message.split('\n')[0] ?? ''}`;
  const publisher: MemoryPublisher = {
    publish: async (draft, to, sender) => {
      const hearers = to === undefined ? conversations() : [to];
      for (const one of hearers) if (one !== sender) pending.push({ draft, to: one });
    },
    withdraw: async (kind, subject, _reason, to) => {
      const before = pending.length;
      const isMeant = (one: (typeof pending)[number]) =>
        printKind(one.draft.kind) === printKind(kind) &&
        one.draft.subject === subject &&
        (to === undefined || one.to === to);
      pending.splice(0, before, ...pending.filter((one) => !isMeant(one)));
      return pending.length < before;
    },
    waiting: (conversation) => pending.filter(({ to }) => to === conversation).map(print),
    carry: (conversation) => {
      const carried = publisher.waiting(conversation);
      pending.splice(0, pending.length, ...pending.filter(({ to }) => to !== conversation));
      return carried;
    },
  };
  return publisher;
}
