// The Guide: a built-in model without network or AI that understands some requests by rules and uses the real tools.
import { setTimeout as pause } from 'node:timers/promises';
import { type ModelMessage } from '../../core/ports/modelMessages.ts';
import { type Model, type ModelPart, type ModelRequest } from '../../core/ports/ports.ts';
import { type Goal, type Step, type Taken } from './guidePlan.ts';
import { isSystemRequest, reasonIn, userTextsIn, wasRefused } from './guideReading.ts';
import { parseRequest } from './guideRequest.ts';
import { describeBlock, introduce, notUnderstood } from './guideSpeech.ts';

/** Delay between words, so that the text can be read as it appears. */
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
  /** Makes the call's id unique. */
  readonly number: number;
}

async function* speak(response: Response, delay: number, signal: AbortSignal): AsyncGenerator<ModelPart> {
  for (const word of response.text.trimEnd().split(/(?<=\s)(?=\S)/)) {
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

type ToolMessage = Extract<ModelMessage, { role: 'tool' }>;

/** Plans again on each call, from the request and the results since then: the log is the Guide's only memory. */
function respond({ messages, tools }: ModelRequest): Response {
  const asked = messages.findLastIndex((message) => message.role === 'user');
  const request = messages[asked];
  const results = messages.slice(asked + 1).filter((message) => message.role === 'tool');
  const number = messages.filter((message) => message.role === 'tool').length + 1;
  if (request?.role !== 'user') return { text: introduce(), number };
  const notified = describeBlock(request.block?.text, request.queued);
  const wanted = isSystemRequest(request.content) ? [] : parseRequest(request.content);
  const goals = wanted ?? [];
  // Queued messages of the user are goals too, even if the request itself is automatic.
  const queued = userTextsIn(request.block?.text, request.queued).map(goalFor).flat();
  if (wanted === undefined && queued.length === 0) return { text: join(notified, notUnderstood()), number };
  const names = new Set(tools.map(({ name }) => name));
  return { ...follow([...goals, ...queued], results, notified, names), number };
}

/** Follows the goals one by one; the number of results shows how far they have got. */
function follow(
  goals: readonly Goal[],
  results: readonly ToolMessage[],
  requestBlock: string,
  tools: ReadonlySet<string>,
): Omit<Response, 'number'> {
  const left = [...results];
  const waiting = [...goals];
  let [reports, notified] = [[] as string[], requestBlock];
  for (let goal = waiting.shift(); goal !== undefined; goal = waiting.shift()) {
    const taken: Taken[] = [];
    for (let decision = goal(taken); ; decision = goal(taken)) {
      if (decision.report !== undefined) reports.push(decision.report);
      if (decision.type === 'done') break;
      const { step, say } = decision;
      const result = left.shift();
      if (result === undefined) {
        if (tools.size > 0 && !tools.has(step.tool)) return { text: join(...reports, notified, withoutTool(step)) };
        return { text: join(...reports, notified, say), step };
      }
      // Text before this result was already shown.
      [reports, notified] = [[], describeBlock(result.block?.text, result.queued)];
      if (wasRefused(result.content)) return { text: join(stopping(reasonIn(result.content)), notified) };
      taken.push({ step, result: result.content, failed: result.failed === true, block: result.block?.text });
      waiting.push(...userTextsIn(result.block?.text, result.queued).flatMap(goalFor));
    }
  }
  return { text: join(...reports, notified) || 'Nothing is left to do.' };
}

/** The goals of a message that the user wrote meanwhile; they follow the goals that are already waiting. */
function goalFor(text: string): Goal[] {
  return parseRequest(text) ?? [() => ({ type: 'done', report: notUnderstood() })];
}

function withoutTool({ tool }: Step): string {
  return `For this I would need the tool \`${tool}\`, which is not available in this mode. I stop here.`;
}

function join(...parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join('\n\n');
}

function stopping(reason: string | undefined): string {
  return reason === undefined
    ? 'You did not want that, so I stop here.'
    : `You did not want that (“${reason}”), so I stop here.`;
}
