// How a request of a connection is answered: with a reply, with nothing, or with a failure that becomes `error`.
import { describeError, describeFailure, failed, type Result, succeeded } from '../base/errors.ts';
import { type HostMessage } from '../protocol/plugin.ts';

interface Reply {
  readonly message: HostMessage;
  /** Called right after the reply was queued, to send what follows it. */
  readonly then?: () => void;
}

/** Undefined: the request has no reply. */
export type Answer = Result<Reply | undefined>;

export const NOTHING: Answer = succeeded(undefined);

export function reply(message: HostMessage, then?: () => void): Answer {
  return succeeded({ message, ...(then && { then }) });
}

export function refuse(message: string): Answer {
  return failed('plugin', message);
}

/** `done`, or the failure. */
export function doneIf(result: Result<unknown>): Answer {
  return result.ok ? reply({ type: 'done' }) : result;
}

/** Handles a request and sends its reply, or why it failed. Never rejects. */
export async function answerRequest(
  connection: { send(message: HostMessage): unknown },
  request: { readonly type: string; readonly id?: string | undefined },
  answer: () => Answer | Promise<Answer>,
  report: (error: unknown) => void,
): Promise<void> {
  const id = request.id === undefined ? {} : { id: request.id };
  const fail = (message: string) => connection.send({ type: 'error', ...id, request: request.type, message });
  try {
    const answered = await answer();
    if (!answered.ok) fail(describeFailure(answered.failure));
    else if (answered.value !== undefined) {
      connection.send({ ...answered.value.message, ...id });
      answered.value.then?.();
    }
  } catch (error) {
    report(error);
    fail(`Earshot failed: ${describeError(error)}`);
  }
}
