// The model behind an OpenAI-compatible endpoint. The SDK is loaded with the first request, not at activation.
import { type Model, type ModelPart, type ModelRequest } from '../../core/ports/ports.ts';
import { createEndpointMemory, type EndpointFacts, type Lesson, lessonsIn } from '../endpointMemory.ts';
import { type OpenAiOptions } from './openaiRequest.ts';

const CONTEXT_WINDOW = 128_000;
/** Each refusal teaches one thing; there are not more things to learn. */
const MOST_LESSONS = 8;

export function createOpenAiModel(given: OpenAiOptions): Model {
  const memory = given.memory ?? createEndpointMemory();
  const options: Learning = { ...given, memory };
  return {
    id: options.model,
    label: options.model,
    detail: new URL(options.baseUrl).host,
    contextWindow: options.options?.contextWindow ?? CONTEXT_WINDOW,
    ...(options.options?.prices !== undefined && { prices: options.options.prices }),
    stream: (request, signal) => stream(options, request, signal),
  };
}

type Learning = OpenAiOptions & Required<Pick<OpenAiOptions, 'memory'>>;

/** A refusal of the messages' form is answered by another form; what was accepted at last is remembered. */
async function* stream(options: Learning, request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelPart> {
  const { baseUrl, model } = options;
  const memory = await options.memory;
  let knowledge = memory.get(baseUrl, model);
  let refused: unknown;
  for (let lessons = 0; ; lessons++) {
    let accepted = false;
    try {
      const { requestChunks } = await import('./openaiClient.ts');
      for await (const part of requestChunks(options, request, knowledge, signal)) {
        if (!accepted && lessons > 0) await memory.learn(baseUrl, model, knowledge);
        accepted = true;
        yield part;
      }
      return;
    } catch (error) {
      if (signal.aborted) return;
      const next = accepted || lessons >= MOST_LESSONS ? undefined : await learn(options, request, knowledge, error);
      if (next === undefined) {
        // If a guess did not help either, what the endpoint said before it is what the user needs.
        const { explain } = await import('../explain.ts');
        yield explain(accepted ? error : (refused ?? error), options);
        return;
      }
      refused = next.guessed ? error : undefined;
      knowledge = next.knowledge;
    }
  }
}

async function learn(
  options: OpenAiOptions,
  request: ModelRequest,
  knowledge: EndpointFacts,
  error: unknown,
): Promise<Lesson | undefined> {
  const { readRefusal } = await import('../explain.ts');
  const { status, text, parameter } = readRefusal(error, 0);
  if (status !== 400 && status !== 422 && status !== 500) return undefined;
  const { loadImages, requestBody } = await import('./openaiRequest.ts');
  const images = await loadImages(request);
  const print = (known: EndpointFacts) => JSON.stringify(requestBody(options, request, known, images));
  const refused = print(knowledge);
  // Another form that gives the same bytes would be refused again; a server's own fault is no reason to guess.
  return lessonsIn(knowledge, { text, parameter }).find(
    (lesson) => !(lesson.guessed && status === 500) && print(lesson.knowledge) !== refused,
  );
}
