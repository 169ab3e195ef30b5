// Asks a model behind a scripted endpoint, for the tests of the requests of Responses and Messages.
import { type ModelMessage } from '../../../../src/core/ports/modelMessages.ts';
import { type ModelPart, type ModelRequest } from '../../../../src/core/ports/ports.ts';
import { createModel } from '../../../../src/models/model.ts';
import { type Effort } from '../../../../src/protocol/settings.ts';
import { type NativeEndpoint, type Reply, startNativeEndpoint } from './nativeEndpoint.ts';

type Options = Parameters<typeof createModel>[0];
type Ask = (
  endpoint: Pick<NativeEndpoint, 'address'>,
  given?: ModelRequest,
  more?: Partial<Options>,
) => Promise<ModelPart[]>;

export const user = { role: 'user', content: 'Hello.' } as const satisfies ModelMessage;

const tool = (name: string) => ({ name, description: `Does ${name}.`, parameters: { type: 'object', properties: {} } });

export const request = (more: Partial<ModelRequest> = {}): ModelRequest => ({
  conversation: 'c1',
  system: 'You are.',
  messages: [user],
  tools: [tool('look'), tool('edit')],
  ...more,
});

/** Returns a function that asks a new model for one answer. */
export function asking(api: 'responses' | 'messages', model: string, path: string): Ask {
  return ({ address }, given = request(), more = {}) => {
    const made = createModel({ api, baseUrl: `${address}${path}`, model, apiKey: async () => 'k', ...more });
    return Array.fromAsync(made.stream(given, new AbortController().signal));
  };
}

/** Replies in this order. */
export const replies = (...list: readonly Reply[]): Promise<NativeEndpoint> => {
  const left = [...list];
  return startNativeEndpoint({
    title: '',
    reply: () => left.shift() ?? { status: 400, body: { error: { message: 'the script has ended' } } },
  });
};

export const last = (parts: readonly ModelPart[]): ModelPart | undefined => parts.at(-1);

/** One conversation with an answer for each of the efforts; undefined: none is chosen. */
export async function askWithEfforts(
  ask: Ask,
  endpoint: NativeEndpoint,
  efforts: readonly (Effort | undefined)[],
  more?: Partial<Options>,
): Promise<void> {
  const messages: ModelMessage[] = [user];
  for (const effort of efforts) {
    const given = request({ messages: [...messages], ...(effort !== undefined && { effort }) });
    const finished = last(await ask(endpoint, given, more));
    if (finished?.type !== 'finished' || finished.origin === undefined) throw new Error('there is no answer');
    messages.push({ role: 'assistant', content: 'x', calls: [], origin: finished.origin }, user);
  }
}

/** Sends a conversation with a refused answer twice, with the same model: what it learns, it keeps. */
export async function askTwice(
  api: 'responses' | 'messages',
  model: string,
  baseUrl: string,
  before: ModelMessage,
): Promise<(ModelPart | undefined)[]> {
  const made = createModel({ api, baseUrl, model, apiKey: async () => 'k' });
  const given = request({ messages: [user, before, user] });
  const send = async () => last(await Array.fromAsync(made.stream(given, new AbortController().signal)));
  return [await send(), await send()];
}
