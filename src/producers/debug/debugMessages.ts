// Reads messages of the Debug Adapter Protocol. They come from other programs, so nothing about them is assumed.
import { fieldOf, listOf, textOf } from '../../base/json/outsideJson.ts';

export interface Stop {
  readonly reason: string;
  readonly thread: number | undefined;
  readonly text: string;
}

export interface Frame {
  readonly id: number;
  readonly name: string;
  /** As the debugger names it; undefined: it has no file, or one that the user does not debug. */
  readonly path: string | undefined;
  readonly line: number;
  readonly column: number;
}

export interface Variable {
  readonly name: string;
  readonly value: string;
}

/** What a message of a debugger says that matters here. */
export type DebuggerMessage =
  | { readonly type: 'stopped'; readonly stop: Stop }
  | { readonly type: 'continued' }
  | { readonly type: 'printed'; readonly text: string }
  | { readonly type: 'exited'; readonly code: number }
  | { readonly type: 'over' }
  | { readonly type: 'can_describe' };

const CONTINUING: ReadonlySet<string> = new Set(['continue', 'next', 'stepIn', 'stepOut', 'stepBack', 'goto']);
const ENDING: ReadonlySet<string> = new Set(['disconnect', 'terminate', 'restart']);
const LONGEST_TEXT = 4000;
const MOST_LISTED = 100;
/** The debugger for JavaScript sends no `exited`; it prints this instead. */
const EXIT_CODE = /^Process exited with code (\d{1,10})\s*$/;

export function readFromDebugger(message: unknown): DebuggerMessage | undefined {
  const body = fieldOf(message, 'body');
  if (fieldOf(message, 'type') === 'response') {
    const canDescribe = fieldOf(message, 'command') === 'initialize' && fieldOf(body, 'supportsExceptionInfoRequest');
    return canDescribe === true ? { type: 'can_describe' } : undefined;
  }
  switch (fieldOf(message, 'event')) {
    case 'stopped':
      return { type: 'stopped', stop: readStop(body) };
    case 'continued':
      return { type: 'continued' };
    case 'output':
      return fieldOf(body, 'category') === 'stderr' ? readError(textOf(body, 'output', LONGEST_TEXT)) : undefined;
    case 'terminated':
      return { type: 'over' };
    case 'exited': {
      const code = numberOf(body, 'exitCode');
      return code === undefined ? undefined : { type: 'exited', code };
    }
    default:
      return undefined;
  }
}

function readError(text: string): DebuggerMessage {
  const [, code] = EXIT_CODE.exec(text) ?? [];
  return code === undefined ? { type: 'printed', text } : { type: 'exited', code: Number(code) };
}

/** What the user does with the program. */
export function readFromEditor(message: unknown): 'continues' | 'ends' | undefined {
  const command = textOf(message, 'command', LONGEST_TEXT);
  if (CONTINUING.has(command)) return 'continues';
  return ENDING.has(command) ? 'ends' : undefined;
}

function readStop(body: unknown): Stop {
  const texts = [textOf(body, 'text', LONGEST_TEXT), textOf(body, 'description', LONGEST_TEXT)];
  return {
    reason: textOf(body, 'reason', LONGEST_TEXT),
    thread: numberOf(body, 'threadId'),
    text: texts.find((one) => one !== '') ?? '',
  };
}

export function readFrames(response: unknown): readonly Frame[] {
  return listOf(response, 'stackFrames', MOST_LISTED).map((frame) => {
    const source = fieldOf(frame, 'source');
    const isOfOthers = fieldOf(source, 'presentationHint') === 'deemphasize';
    const path = textOf(source, 'path', LONGEST_TEXT);
    return {
      id: numberOf(frame, 'id') ?? -1,
      name: textOf(frame, 'name', LONGEST_TEXT),
      path: path === '' || isOfOthers ? undefined : path,
      line: numberOf(frame, 'line') ?? 0,
      column: numberOf(frame, 'column') ?? 0,
    };
  });
}

export interface ExceptionInfo {
  readonly text: string;
  /** The debugger says that nothing catches it. */
  readonly isUncaught: boolean;
}

export function readExceptionInfo(response: unknown): ExceptionInfo {
  const details = fieldOf(response, 'details');
  const name = textOf(response, 'exceptionId', LONGEST_TEXT);
  const message = textOf(response, 'description', LONGEST_TEXT) || textOf(details, 'message', LONGEST_TEXT);
  const text = message === '' || message.startsWith(name) ? message || name : `${name}: ${message}`;
  return { text, isUncaught: /unhandled$/i.test(textOf(response, 'breakMode', LONGEST_TEXT)) };
}

/** The reference of the local variables; undefined: there are none, or they would have to be computed. */
export function readLocalsReference(response: unknown): number | undefined {
  const cheap = listOf(response, 'scopes', MOST_LISTED).filter((scope) => fieldOf(scope, 'expensive') !== true);
  const locals = cheap.find((scope) => fieldOf(scope, 'presentationHint') === 'locals') ?? cheap[0];
  return numberOf(locals, 'variablesReference');
}

/** Without variables whose value would have to be computed first. */
export function readVariables(response: unknown, most: number): readonly Variable[] {
  return listOf(response, 'variables', MOST_LISTED)
    .filter((variable) => fieldOf(fieldOf(variable, 'presentationHint'), 'lazy') !== true)
    .slice(0, most)
    .map((variable) => ({
      name: textOf(variable, 'name', LONGEST_TEXT),
      value: textOf(variable, 'value', LONGEST_TEXT),
    }));
}

function numberOf(value: unknown, name: string): number | undefined {
  const number = fieldOf(value, name);
  return typeof number === 'number' && Number.isSafeInteger(number) ? number : undefined;
}
