// The built-in model: no network, no AI. It understands a few requests by rule and works through the real tools.
import { setTimeout as pause } from 'node:timers/promises';
import { type ModelMessage } from '../core/conversation/messages.ts';
import { type Model, type ModelPart, type ModelRequest } from '../core/ports.ts';
import { parseRequest, type Step } from './guideRequest.ts';
import { introduce, reportStep } from './guideSpeech.ts';

/** A word every few milliseconds, so that it reads as it is written. */
const WORD_MILLISECONDS = 12;

export function createGuideModel(options: { wordMilliseconds?: number } = {}): Model {
  const delay = options.wordMilliseconds ?? WORD_MILLISECONDS;
  return {
    id: 'guide',
    label: 'Guide',
    detail: 'offline, no AI',
    contextWindow: 32_000,
    ruleBased: true,
    stream: (request, signal) => speak(respond(request), delay, signal),
  };
}

interface Response {
  readonly text: string;
  readonly step?: Step;
  /** Makes the call's id differ from all before. */
  readonly number: number;
}

async function* speak(response: Response, delay: number, signal: AbortSignal): AsyncGenerator<ModelPart> {
  for (const word of response.text.match(/\s*\S+\s*/g) ?? []) {
    if (signal.aborted) return;
    yield { type: 'text', text: word };
    if (delay > 0) await pause(delay);
  }
  const { step, number } = response;
  if (step !== undefined) {
    yield { type: 'tool_call', id: `guide_${number}`, name: step.tool, arguments: JSON.stringify(step.arguments) };
  }
  yield { type: 'finished' };
}

/** The request's steps are taken one by one; how many are done is how many results have come since. */
function respond({ messages }: ModelRequest): Response {
  const asked = messages.findLastIndex((message) => message.role === 'user');
  const request = messages[asked];
  const results = messages.slice(asked + 1).filter((message) => message.role === 'tool');
  const number = messages.filter((message) => message.role === 'tool').length + 1;
  if (request?.role !== 'user') return { text: introduce(), number };
  const steps = parseRequest(request.content);
  const told = reportLast(request, steps, results);
  const step = steps[results.length];
  if (step !== undefined) return { text: joinText(told, announce(step, results.length)), step, number };
  return { text: steps.length === 0 ? joinText(told, introduce()) : told, number };
}

type ToolMessage = Extract<ModelMessage, { role: 'tool' }>;
type UserMessage = Extract<ModelMessage, { role: 'user' }>;

/** What has come since it last spoke: the last step's result, or what rode the request. */
function reportLast(request: UserMessage, steps: readonly Step[], results: readonly ToolMessage[]): string {
  const last = results.at(-1);
  if (last === undefined) return reportStep(undefined, '', request.block?.text);
  return reportStep(steps[results.length - 1], last.content, last.block?.text);
}

function announce(step: Step, done: number): string {
  return `${done === 0 ? '' : 'Next: '}${step.announcement}`;
}

function joinText(first: string, second: string): string {
  return [first, second].filter((part) => part !== '').join('\n\n');
}
