// The lines that the arguments of a tool ask for.
import { type WantedLines } from '../core/ports/producers.ts';

/** Undefined: the call asks for none. */
export function wantedLines(args: {
  readonly notify_on?: readonly string[] | undefined;
  readonly quiet_after_secs?: number | undefined;
}): WantedLines | undefined {
  const { notify_on: patterns = [], quiet_after_secs: quietAfterSeconds } = args;
  return patterns.length === 0 && quietAfterSeconds === undefined ? undefined : { patterns, quietAfterSeconds };
}
