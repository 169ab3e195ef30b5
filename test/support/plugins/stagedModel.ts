// A model in the test's own process whose answers come in pieces and can be held in the middle.
import { type Model, type ModelPart, type ModelRequest } from '../../../src/core/ports/ports.ts';
import { type Usage } from '../../../src/protocol/event.ts';

export interface StagedAnswer {
  readonly reasoning?: readonly string[];
  readonly text?: readonly string[];
  readonly calls?: readonly { readonly id: string; readonly name: string; readonly arguments: object }[];
  /** The answer pauses after the text until `release` is called. */
  readonly hang?: boolean;
  /** The model fails instead. */
  readonly fails?: boolean;
  readonly tokens?: Usage;
}

export interface StagedModel extends Model {
  readonly requests: readonly ModelRequest[];
  script(...answers: readonly StagedAnswer[]): void;
  /** Lets the hanging answer continue, or the next one that would hang. */
  release(): void;
}

/** After the end of the script, every answer is “Done.” */
export function createStagedModel(...answers: readonly StagedAnswer[]): StagedModel {
  const requests: ModelRequest[] = [];
  const script = [...answers];
  const hanging: (() => void)[] = [];
  /** Calls of `release` before an answer was hanging. */
  let released = 0;
  return {
    id: 'staged',
    label: 'Staged',
    detail: '',
    contextWindow: 1_000_000,
    // Prevents title requests.
    ruleBased: true,
    requests,
    script: (...next) => void script.push(...next),
    release: () => {
      const waiting = hanging.shift();
      if (waiting === undefined) released += 1;
      else waiting();
    },
    stream: async function* (request, signal): AsyncGenerator<ModelPart> {
      requests.push(request);
      const { reasoning = [], text = [], calls = [], hang, fails, tokens } = script.shift() ?? { text: ['Done.'] };
      if (fails === true) throw new Error('The model is gone.');
      for (const piece of reasoning) yield { type: 'reasoning', text: piece };
      for (const piece of text) yield { type: 'text', text: piece };
      if (hang === true && released > 0) released -= 1;
      else if (hang === true) await untilReleased(hanging, signal);
      if (signal.aborted) return;
      for (const { id, name, arguments: args } of calls) {
        yield { type: 'tool_call', id, name, arguments: JSON.stringify(args) };
      }
      yield { type: 'finished', ...(tokens !== undefined && { usage: tokens }) };
    },
  };
}

async function untilReleased(hanging: (() => void)[], signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  hanging.push(resolve);
  signal.addEventListener('abort', () => resolve(), { once: true });
  if (signal.aborted) resolve();
  await promise;
}
