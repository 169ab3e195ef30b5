// Repeats a rejected request in another form, and remembers the form that is accepted.
import { type ModelMessage } from '../../core/ports/modelMessages.ts';
import { type ModelPart, type ModelRequest } from '../../core/ports/ports.ts';
import { createEndpointMemory, type EndpointFacts } from '../endpointMemory.ts';
import { explain, readRefusal, type Refusal } from '../explain.ts';
import { type EndpointOptions } from './endpoint.ts';
import { PrefixPrinter } from './prefixPrinter.ts';

/** Each rejection leads to another form, and there are no more forms than this. */
const MOST_REPEATS = 12;

const VALUE = /\b(unsupported|invalid) value\b|\bsupported values\b|\bdoes not support '/i;

export interface Attempts {
  /** Sends the request in this form. Throws rejections. */
  send(facts: EndpointFacts): AsyncIterable<ModelPart>;
  /** The form to try after this rejection; undefined: there is none. */
  next(facts: EndpointFacts, refusal: Refusal): EndpointFacts | undefined;
}

/** One memory for each model, even if none was given. */
const memories = new WeakMap<EndpointOptions, NonNullable<EndpointOptions['memory']>>();

export async function* attempt(
  options: EndpointOptions,
  { send, next }: Attempts,
  signal: AbortSignal,
): AsyncGenerator<ModelPart> {
  const { baseUrl, model } = options;
  const given = options.memory ?? memories.get(options) ?? createEndpointMemory();
  memories.set(options, given);
  const memory = await given;
  const known = memory.get(baseUrl, model);
  let facts = known;
  let isLearnt = true;
  for (let repeats = 0; ; repeats++) {
    let accepted = false;
    try {
      for await (const part of send(facts)) {
        if (!accepted && facts !== known && isLearnt) await memory.learn(baseUrl, model, facts);
        accepted = true;
        yield part;
      }
      return;
    } catch (error) {
      if (signal.aborted) return;
      const refusal = readRefusal(error, 0);
      // An error inside a stream has no headers: the endpoint has accepted the request.
      const isHttp = (error as { headers?: unknown }).headers instanceof Headers;
      const isRejected = isHttp && (refusal.status === 400 || refusal.status === 422) && repeats < MOST_REPEATS;
      const other = isRejected ? next(facts, refusal) : undefined;
      if (other === undefined) {
        yield explain(error, options);
        return;
      }
      options.log?.(`${baseUrl} refused a request, which is repeated in another form (${refusal.text})`);
      facts = other;
      // The endpoint takes the parameter, only not with this value.
      isLearnt &&= !VALUE.test(refusal.text);
    }
  }
}

/** What is kept between the requests of one model. */
export interface Kept {
  readonly printer: PrefixPrinter;
  /** Answers whose reasoning the endpoint has refused: another key, organisation or prefix invalidates it. */
  readonly refused: WeakSet<ModelMessage>;
  /** How often reasoning was refused. Bytes that were printed before are not used again. */
  refusals: number;
}

export function createKept(): Kept {
  return { printer: new PrefixPrinter(), refused: new WeakSet(), refusals: 0 };
}

/** Returns whether there was reasoning to leave out. */
export function forgetReasoning(kept: Kept, { messages }: ModelRequest): boolean {
  const reasoned = messages.filter((message) => message.role === 'assistant' && message.origin !== undefined);
  const isNew = reasoned.some((message) => !kept.refused.has(message));
  for (const message of reasoned) kept.refused.add(message);
  if (isNew) kept.refusals += 1;
  return isNew;
}

/**
 * The facts without the first parameter whose pattern the refusal matches; undefined if none does. A form with the same
 * bytes would be rejected again.
 */
export function without<P extends EndpointFacts['without'][number]>(
  facts: EndpointFacts,
  patterns: Readonly<Record<P, RegExp>>,
  { text, parameter = '' }: Refusal,
  print: (facts: EndpointFacts) => Buffer,
): EndpointFacts | undefined {
  const refused = print(facts);
  return (Object.keys(patterns) as P[])
    .filter((name) => !facts.without.includes(name) && (patterns[name].test(text) || patterns[name].test(parameter)))
    .map((name) => ({ ...facts, without: [...facts.without, name] }))
    .find((other) => !print(other).equals(refused));
}
