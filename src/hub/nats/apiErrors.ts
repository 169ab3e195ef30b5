// Recognizes expected errors of JetStream's API by their codes.
import { JetStreamApiError } from '@nats-io/jetstream';

/** The key was changed meanwhile. */
export function isWrongSequence(error: unknown): boolean {
  return hasCode(error, 10071);
}

/** The stream accepts no more: “maximum bytes exceeded”, or the account has no space left. */
export function isStreamFull(error: unknown): boolean {
  return [10077, 10023, 10047].some((code) => hasCode(error, code));
}

/** The message is larger than the stream's limit for one message. */
export function isTooLarge(error: unknown): boolean {
  return hasCode(error, 10054);
}

export function isNoStream(error: unknown): boolean {
  return hasCode(error, 10059);
}

function hasCode(error: unknown, code: number): boolean {
  return error instanceof JetStreamApiError && error.code === code;
}
