// Reads events from a log's bytes, skips and reports damaged lines, and finds a torn end. Pure.
import { type Failure } from '../base/errors.ts';
import { type StorageCode } from '../base/failureCodes.ts';
import { type LogEvent } from '../protocol/event.ts';
import { checkLine, parseLine } from './line.ts';

const NEWLINE = 0x0a;
/** Limits the reports for a log with many damaged lines. */
const MOST_REPORTED = 5;

export interface ReadEvents {
  /** Parsed lazily. */
  readonly events: Iterable<LogEvent>;
  readonly nextSeq: number;
  /** A line with a correct checksum that is not an event is added when it is parsed. */
  readonly damage: Failure<StorageCode>[];
  /** Bytes up to the end of the last good line. */
  readonly length: number;
  /** Offset of that line. */
  readonly lastLine: number;
  /** Number of lines up to its end. */
  readonly lines: number;
}

interface Fault {
  readonly line: number;
  readonly reason: string;
  readonly end: number;
}

/** `before`: where an earlier read ended, to read only added lines. `after`: events up to this number are left out. */
export function readEvents(input: Uint8Array, before = { seq: 0, lines: 0 }, after = 0): ReadEvents {
  const bytes = Buffer.from(input.buffer, input.byteOffset, input.length);
  const faults: Fault[] = [];
  /** Start, end and number of each valid line. */
  const places: number[] = [];
  let { seq: lastSeq, lines: number } = before;
  let [start, good, lastLine, lines, brokenSince] = [0, 0, 0, 0, false];
  for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, start)) {
    number += 1;
    const line = checkLine(bytes.subarray(start, end));
    if (line.kind === 'invalid') {
      faults.push({ line: number, reason: line.reason, end: end + 1 });
      brokenSince = true;
    } else {
      const odd = oddSequence(lastSeq, line.seq, brokenSince);
      if (odd !== undefined) faults.push({ line: number, reason: odd, end: end + 1 });
      // A sequence number that does not rise comes from another program; it would change what counts as delivered.
      if (line.seq > lastSeq && line.seq > after) places.push(start, end, line.seq);
      lastSeq = Math.max(lastSeq, line.seq);
      [good, lastLine, lines, brokenSince] = [end + 1, start, number - before.lines, false];
    }
    start = end + 1;
  }
  const damage = reportFaults(faults, good);
  const found = new Set<number>();
  const skip = (at: number, reason: string) => {
    if (found.has(at)) return;
    found.add(at);
    const line = before.lines + lineNumber(bytes, at);
    if (found.size <= MOST_REPORTED) damage.push(describeFault({ line, reason }));
    else if (found.size === MOST_REPORTED + 1) damage.push(describeFurtherFaults());
  };
  const events = { [Symbol.iterator]: () => parseLines(bytes, places, skip) };
  return { events, nextSeq: lastSeq + 1, damage, length: good, lastLine, lines };
}

function* parseLines(
  bytes: Buffer,
  places: readonly number[],
  skip: (at: number, reason: string) => void,
): Generator<LogEvent> {
  for (let index = 0; index < places.length; index += 3) {
    const at = places[index] ?? 0;
    const parsed = parseLine(bytes.subarray(at, places[index + 1]));
    if (parsed.kind === 'invalid') skip(at, parsed.reason);
    if (parsed.kind !== 'event') continue;
    if (parsed.event.seq === places[index + 2]) yield parsed.event;
    else skip(at, 'it has two numbers');
  }
}

function lineNumber(bytes: Buffer, at: number): number {
  let lines = 1;
  for (let end = bytes.indexOf(NEWLINE); end !== -1 && end < at; end = bytes.indexOf(NEWLINE, end + 1)) lines += 1;
  return lines;
}

function oddSequence(last: number, seq: number, afterBroken: boolean): string | undefined {
  if (seq <= last) return `it has the number ${seq}, which was used before: another program wrote here`;
  if (seq > last + 1 && !afterBroken) return `before it, events ${last + 1} to ${seq - 1} are missing`;
  return undefined;
}

/** Damage after the last good line is a torn end; it is reported by the code that cuts it off. */
function reportFaults(faults: readonly Fault[], good: number): Failure<StorageCode>[] {
  const within = faults.filter((fault) => fault.end <= good);
  const reported = within.slice(0, MOST_REPORTED).map(describeFault);
  const left = within.length - reported.length;
  return left === 0 ? reported : [...reported, describeFurtherFaults(left)];
}

function describeFault({ line, reason }: Omit<Fault, 'end'>): Failure<StorageCode> {
  const missing = reason.startsWith('before it');
  return {
    code: 'log_damaged',
    message: missing
      ? `Line ${line} of this conversation’s log does not follow the one before: ${reason}.`
      : `Line ${line} of this conversation’s log is damaged (${reason}) and was left out; the rest is intact.`,
    nextStep: missing
      ? 'The remaining events are shown. You can continue the conversation.'
      : 'The damaged line stays in the file unchanged. You can continue the conversation.',
  };
}

function describeFurtherFaults(count?: number): Failure<StorageCode> {
  return {
    code: 'log_damaged',
    message:
      count === undefined
        ? 'More lines of this conversation’s log are damaged and were left out.'
        : count === 1
          ? 'One more line of this conversation’s log is damaged and was left out.'
          : `${count} more lines of this conversation’s log are damaged and were left out.`,
    nextStep: 'They stay in the file unchanged. You can continue the conversation.',
  };
}
