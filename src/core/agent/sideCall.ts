// Makes a model call outside the turn (for a title or a summary): no calls, no retries, usage counted in the log.
import { defined } from '../../base/json/defined.ts';
import { type EventOf, type Usage } from '../../protocol/event.ts';
import { type ConversationLog } from '../conversation/log.ts';
import { type Clock, type Model, type ModelRequest } from '../ports/ports.ts';
import { createAnswerBound } from './answerBound.ts';
import { watchIdle } from './idle.ts';

export interface SideCallDeps {
  readonly log: ConversationLog;
  readonly model: Model;
  readonly clock: Clock;
  readonly idleMilliseconds: number;
}

/** The answer's text, or undefined if there is none. Rejects only if the log cannot be written. */
export async function askAside(
  deps: SideCallDeps,
  question: Pick<ModelRequest, 'system'> & { readonly content: string },
  purpose: 'title' | 'summary',
  signal: AbortSignal,
): Promise<string | undefined> {
  const { system, content } = question;
  return callAside(deps, { system, messages: [{ role: 'user', content }], tools: [] }, purpose, signal);
}

/** The same for a whole request. An answer with tool calls has no text: nobody runs them. */
export async function callAside(
  deps: SideCallDeps,
  request: ModelRequest,
  purpose: 'title' | 'summary',
  signal: AbortSignal,
): Promise<string | undefined> {
  const { log, model } = deps;
  const idle = watchIdle(deps.clock, deps.idleMilliseconds, signal);
  const fits = createAnswerBound();
  let text = '';
  let called = false;
  let usage: Usage | undefined;
  let end: Extract<EventOf<'model_call'>['outcome'], string> = 'failed';
  try {
    for await (const part of model.stream(request, idle.signal)) {
      idle.noteActivity();
      if (!fits(part)) break;
      if (part.type === 'text') text += part.text;
      if (part.type === 'tool_call') called = true;
      if (part.type !== 'finished') continue;
      end = 'succeeded';
      usage = part.usage;
    }
  } finally {
    idle.dispose();
  }
  const outcome = signal.aborted ? 'aborted' : end;
  await log.append({ type: 'model_call', model: model.id, purpose, outcome, ...defined({ usage }) });
  return outcome === 'succeeded' && !called && text.trim() !== '' ? text.trim() : undefined;
}
