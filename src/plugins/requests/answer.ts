// How a handler answers a plugin's request: with a reply, with nothing, or with a failure that becomes `error`.
import { failed, type Result, succeeded } from '../../base/errors.ts';
import { type HostMessage } from '../../protocol/plugin.ts';

type WithoutId<T> = T extends unknown ? Omit<T, 'id'> : never;

export interface Reply {
  readonly message: WithoutId<HostMessage>;
  /** The key of the conversation that the message is about, to be masked. */
  readonly key?: string;
  /** Called right after the reply was queued, to send what follows it. */
  readonly then?: () => void;
}

/** Undefined: the request has no reply. */
export type Answer = Result<Reply | undefined>;

export function reply(message: Reply['message'], more: Omit<Reply, 'message'> = {}): Answer {
  return succeeded({ message, ...more });
}

/** `done`, which most requests get only if they have an `id`. */
export const DONE: Answer = succeeded({ message: { type: 'done' } });

export const NOTHING: Answer = succeeded(undefined);

export function refuse(message: string): Answer {
  return failed('plugin', message);
}

/** `done`, or the failure. */
export function doneIf(result: Result<unknown>): Answer {
  return result.ok ? DONE : result;
}
