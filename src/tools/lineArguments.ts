// The arguments with which tools take the lines that a conversation waits for. Every request contains them, so that
// their limits are checked by the tools instead of the schema.
import * as z from 'zod';
import { type WantedLines } from '../core/ports/producers.ts';

export const notifyOn = z.array(z.string()).optional();
export const quietAfter = z.int().min(30).max(3600).optional();

/** Undefined: the call asks for none. */
export function wantedLines(args: {
  readonly notify_on?: readonly string[] | undefined;
  readonly quiet_after_secs?: number | undefined;
}): WantedLines | undefined {
  const { notify_on: patterns = [], quiet_after_secs: quietAfterSeconds } = args;
  return patterns.length === 0 && quietAfterSeconds === undefined ? undefined : { patterns, quietAfterSeconds };
}
