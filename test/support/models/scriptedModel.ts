// A model in the test's own process that gives scripted answers, one for each request, and records the requests.
import { type Model, type ModelPart, type ModelRequest } from '../../../src/core/ports/ports.ts';

export interface ModelAnswer {
  readonly text?: string;
  readonly calls?: readonly { readonly id: string; readonly name: string; readonly arguments: string | object }[];
}

export interface ScriptedModel extends Model {
  readonly requests: ModelRequest[];
  script(...answers: readonly ModelAnswer[]): void;
}

/** After the end of the script, every answer is “Done.” */
export function createScriptedModel(...answers: readonly ModelAnswer[]): ScriptedModel {
  const requests: ModelRequest[] = [];
  let script = [...answers];
  return {
    id: 'scripted',
    label: 'Scripted',
    detail: '',
    contextWindow: 128_000,
    // Prevents title requests.
    ruleBased: true,
    requests,
    script: (...next) => {
      script = [...next];
    },
    stream: async function* (request): AsyncGenerator<ModelPart> {
      requests.push(request);
      const { text, calls = [] } = script.shift() ?? { text: 'Done.' };
      if (text !== undefined) yield { type: 'text', text };
      for (const { id, name, arguments: args } of calls) {
        yield { type: 'tool_call', id, name, arguments: typeof args === 'string' ? args : JSON.stringify(args) };
      }
      yield { type: 'finished' };
    },
  };
}
