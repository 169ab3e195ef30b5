// The model behind an OpenAI-compatible endpoint. The SDK is loaded with the first request, not at activation.
import { type Model, type ModelPart, type ModelRequest } from '../../core/ports/ports.ts';
import { isOverflow } from '../overflow.ts';
import { createEndpointMemory, type EndpointFacts, type Lesson, lessonsIn } from '../endpointMemory.ts';
import { type EndpointOptions } from '../wire/endpoint.ts';
import { providerOf } from '../api.ts';
import { dialectOf } from './dialects.ts';

const CONTEXT_WINDOW = 128_000;
/** Each rejection teaches at least one fact, and there are no more facts than this. */
const MOST_LESSONS = 8;

export function createChatModel(given: EndpointOptions): Model {
  const memory = given.memory ?? createEndpointMemory();
  const options: Learning = { ...given, memory };
  return {
    id: options.model,
    label: options.model,
    detail: new URL(options.baseUrl).host,
    contextWindow: options.options?.contextWindow ?? CONTEXT_WINDOW,
    ...(options.options?.prices !== undefined && { prices: options.options.prices }),
    ...(dialectOf(options.baseUrl, options.model).profile.midSystem && { takesHostMessages: true as const }),
    stream: (request, signal) => stream(options, request, signal),
  };
}

type Learning = EndpointOptions & Required<Pick<EndpointOptions, 'memory'>>;

/** Retries a rejected request in another form, and remembers the form that is accepted. */
async function* stream(options: Learning, request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelPart> {
  const { baseUrl, model } = options;
  const contextWindow = options.options?.contextWindow ?? CONTEXT_WINDOW;
  const memory = await options.memory;
  let facts = memory.get(baseUrl, model);
  let refused: unknown;
  for (let lessons = 0; ; lessons++) {
    let accepted = false;
    try {
      const { sendRequest } = await import('./chatRequest.ts');
      const { readAnswer } = await import('../wire/answer.ts');
      const { StreamAccumulator } = await import('./chatStream.ts');
      const response = await sendRequest(options, request, facts, signal);
      for await (const part of readAnswer(
        response,
        new StreamAccumulator({ provider: providerOf(baseUrl), model, contextWindow }),
      )) {
        if (!accepted && lessons > 0) await memory.learn(baseUrl, model, facts);
        accepted = true;
        yield part;
      }
      return;
    } catch (error) {
      if (signal.aborted) return;
      const next = accepted || lessons >= MOST_LESSONS ? undefined : await learn(options, request, facts, error);
      if (next === undefined) {
        // If a guess was rejected too, the user is shown the rejection that led to the guess.
        const { explain } = await import('../explain.ts');
        yield explain(accepted ? error : (refused ?? error), options);
        return;
      }
      refused = next.guessed ? error : undefined;
      facts = next.facts;
    }
  }
}

/** llama.cpp reports errors of chat templates with status 500. Other server errors say nothing about the form. */
const TEMPLATE = /jinja|template|raise_exception|roles must alternate|single tool-calls|tool call ids/i;

async function learn(
  options: EndpointOptions,
  request: ModelRequest,
  facts: EndpointFacts,
  error: unknown,
): Promise<Lesson | undefined> {
  const { readRefusal } = await import('../explain.ts');
  const { status, text, code, parameter } = readRefusal(error, 0);
  const isAboutForm = status === 400 || status === 422 || (status === 500 && TEMPLATE.test(text));
  if (!isAboutForm || isModeration(code, text) || isOverflow(text, code)) return undefined;
  const { printBody } = await import('./chatRequest.ts');
  const { readImages } = await import('../wire/images.ts');
  const { PrefixPrinter } = await import('../wire/prefixPrinter.ts');
  const images = await readImages(request);
  const print = (known: EndpointFacts) => printBody(options, request, known, images, new PrefixPrinter());
  const refused = print(facts);
  // A form with the same bytes would be rejected again, and a server error is no reason to guess.
  return lessonsIn(facts, { text, parameter }).find(
    (lesson) => !(lesson.guessed && status === 500) && !print(lesson.facts).equals(refused),
  );
}

function isModeration(code: string | undefined, text: string): boolean {
  return (
    /content_(?:filter|policy)|moderation/i.test(`${code ?? ''} ${text}`) ||
    /\b(?:flagged|content management)\b/i.test(text)
  );
}
