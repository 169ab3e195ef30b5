// Errors of JetStream's API that are expected, by their codes.
import { JetStreamApiError } from '@nats-io/jetstream';

/** Somebody else wrote the key meanwhile. */
export function isWrongSequence(error: unknown): boolean {
  return hasCode(error, 10071);
}

/** “maximum bytes exceeded”, or the account has no room: the stream takes no more. */
export function isStreamFull(error: unknown): boolean {
  return [10077, 10023, 10047].some((code) => hasCode(error, code));
}

/** The stream has a limit for one message. */
export function isTooLarge(error: unknown): boolean {
  return hasCode(error, 10054);
}

export function isNoStream(error: unknown): boolean {
  return hasCode(error, 10059);
}

function hasCode(error: unknown, code: number): boolean {
  return error instanceof JetStreamApiError && error.code === code;
}
