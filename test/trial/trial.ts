// Plays each situation in each format and classifies the model's next answer.
import { formatBlock } from '../../src/core/agent/delivery.ts';
import { planNotifications } from '../../src/core/notify/plan.ts';
import { type Model, type ModelPart, type ModelRequest } from '../../src/core/ports/ports.ts';
import { systemPrompt } from '../../src/core/prompt/systemPrompt.ts';
import { FORMATS } from '../../src/protocol/event.ts';
import { readSettings } from '../../src/protocol/settings.ts';
import { runCommandTool } from '../../src/tools/commands/runCommand.ts';
import { listFilesTool } from '../../src/tools/files/listFiles.ts';
import { readFileTool } from '../../src/tools/files/readFile.ts';
import { SITUATIONS, type Situation } from './situations.ts';

type Verdict = 'acted' | 'ignored' | 'user_voice' | 'failed';
type FormatName = (typeof FORMATS)[number];

export interface Played {
  readonly situation: string;
  readonly format: FormatName;
  readonly verdict: Verdict;
  /** The answer, or the reason for its absence. */
  readonly answer: string;
}

const KEY = 'trialkey0123';
const { settings } = readSettings(() => undefined);

function requestFor(situation: Situation, format: FormatName): ModelRequest {
  const notification = { ...situation.notification, id: '01J00000000000000000000000', at: '2026-01-01T12:00:00.000Z' };
  const plan = planNotifications({ pending: [notification], settings, contextWindow: 128_000, measure: () => 0 });
  const text = formatBlock(format, { plan, key: KEY, now: Date.parse(notification.at) });
  const call = { id: 'call_1', name: situation.call.name, arguments: JSON.stringify(situation.call.arguments) };
  return {
    system: systemPrompt(KEY),
    messages: [
      { role: 'user', content: situation.request },
      { role: 'assistant', content: '', calls: [call] },
      { role: 'tool', call: call.id, content: situation.result, block: { format, text } },
    ],
    tools: [readFileTool, listFilesTool, runCommandTool].map((tool) => tool.description),
  };
}

/** Plays them one after the other, since small servers answer one request at a time. */
export async function runTrial(
  model: Model,
  signal: AbortSignal,
  onPlayed: (played: Played) => void = () => undefined,
): Promise<Played[]> {
  const all: Played[] = [];
  for (const format of FORMATS) {
    for (const situation of SITUATIONS) {
      const parts = await Array.fromAsync(model.stream(requestFor(situation, format), signal));
      const played = { situation: situation.name, format, ...judge(situation, parts) };
      all.push(played);
      onPlayed(played);
    }
  }
  return all;
}

/** Phrases of a model that mistakes the block for a message of the user. */
const USER_VOICE =
  /\b(as|since|because) you (said|asked|mentioned|requested|told|wrote|noted)|you('ve| have)? (just )?(told|informed|notified|mentioned to|asked|reminded) me|thanks? (you )?for (letting me know|the (notification|update|heads[- ]up|reminder)|telling|pointing)|your (notification|message says|update about)/i;

function judge(situation: Situation, parts: readonly ModelPart[]): Pick<Played, 'verdict' | 'answer'> {
  const failure = parts.find((part) => part.type === 'failed');
  if (failure !== undefined) return { verdict: 'failed', answer: failure.failure.message };
  const text = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('');
  const calls = parts.flatMap((part) => (part.type === 'tool_call' ? [`${part.name} ${part.arguments}`] : []));
  const answer = [text, ...calls].filter((part) => part !== '').join('\n');
  if (USER_VOICE.test(text)) return { verdict: 'user_voice', answer };
  return { verdict: situation.acted.test(answer) ? 'acted' : 'ignored', answer };
}

/** One line for each format. */
export function printTrial(all: readonly Played[]): string {
  const count = (format: FormatName, verdict: Verdict) =>
    all.filter((played) => played.format === format && played.verdict === verdict).length;
  const rows = FORMATS.map((format) => {
    const total = all.filter((played) => played.format === format).length;
    const numbers = (['acted', 'ignored', 'user_voice', 'failed'] as const).map((verdict) =>
      `${count(format, verdict)}/${total}`.padStart(10),
    );
    return `${format.padEnd(16)}${numbers.join('')}`;
  });
  const head = `${'format'.padEnd(16)}${['acted', 'ignored', 'as user', 'failed'].map((name) => name.padStart(10)).join('')}`;
  return [head, ...rows].join('\n');
}
