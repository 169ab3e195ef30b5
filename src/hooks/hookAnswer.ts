// Interprets a hook's answer: its exit code, and the JSON or text on its output (as Claude Code defines them).
import { wholeCharacters } from '../base/text.ts';
import { type HookVerdict } from '../core/ports/hooks.ts';
import { type HookEvent, hookAnswerSchema } from '../protocol/outside/hooks.ts';

/** The exit code with which a hook refuses; the reason is on stderr. */
const REFUSED = 2;
const LONGEST = 10_000;

export interface HookEnd {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface HookAnswer extends HookVerdict {
  /** A message for the user. */
  readonly message?: string;
  /** Why the answer is ignored. */
  readonly problem?: string;
}

/** Ignores approvals and changes of arguments in the answer: only the user and the user's settings approve calls. */
export function readHookAnswer(event: HookEvent, hook: string, { code, stdout, stderr }: HookEnd): HookAnswer {
  if (code === REFUSED) return { refused: reasonIn(stderr), added: [] };
  if (code !== 0) return { added: [], problem: whyEnded(code, shorten(stderr, 500)) };
  const text = stdout.trim();
  if (!text.startsWith('{')) return { added: event === 'user_prompt' ? added(hook, text) : [] };
  const answer = parse(text);
  if (answer === undefined) return { added: [], problem: 'its output is no answer that Earshot understands' };
  const { hookSpecificOutput: specific = {}, systemMessage, reason, stopReason, decision } = answer;
  const denied = specific.permissionDecision === 'deny' || decision === 'block';
  const refused = denied
    ? (specific.permissionDecisionReason ?? reason)
    : answer.continue === false && event !== 'turn_end'
      ? stopReason
      : undefined;
  const refuses = denied || (answer.continue === false && event !== 'turn_end');
  return {
    ...(refuses && { refused: reasonIn(refused ?? '') }),
    ...(specific.permissionDecision === 'ask' && { ask: reasonIn(specific.permissionDecisionReason ?? '') }),
    ...(systemMessage !== undefined && { message: shorten(systemMessage, LONGEST) }),
    added: added(hook, specific.additionalContext ?? ''),
  };
}

function parse(text: string) {
  try {
    return hookAnswerSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

function added(hook: string, text: string): HookVerdict['added'] {
  const shown = shorten(text, LONGEST);
  return shown === '' ? [] : [{ hook, text: shown }];
}

function whyEnded(code: number, output: string): string {
  return output === ''
    ? `it ended with exit code ${code} and wrote nothing`
    : `it ended with exit code ${code}: ${output}`;
}

function reasonIn(text: string): string {
  return shorten(text, 2000) || 'no reason given.';
}

function shorten(text: string, length: number): string {
  const trimmed = text.trim();
  return trimmed.length > length ? `${wholeCharacters(trimmed, length)}…` : trimmed;
}
