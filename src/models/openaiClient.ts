// The one file that loads the openai package: sends a request and yields what its raw stream says.
import OpenAI from 'openai';
import { type ModelPart, type ModelRequest } from '../core/ports.ts';
import { type OpenAiOptions } from './openai.ts';
import { StreamAccumulator, toWireMessages, toWireTools } from './openaiWire.ts';

/** Throws what the package throws; ends without `finished` if the stream was cut. */
export async function* requestChunks(
  options: OpenAiOptions,
  request: ModelRequest,
  signal: AbortSignal,
): AsyncGenerator<ModelPart> {
  const client = new OpenAI({
    baseURL: options.baseUrl,
    // Local servers want none, the package wants one.
    apiKey: (await options.apiKey()) ?? 'none',
    // Retries are the loop's decision.
    maxRetries: 0,
    // The global one follows VS Code's proxy settings.
    fetch: globalThis.fetch,
  });
  const tools = toWireTools(request);
  const chunks = await client.chat.completions.create(
    {
      model: options.model,
      messages: toWireMessages(request),
      ...(tools.length > 0 && { tools }),
      stream: true,
      stream_options: { include_usage: true },
    },
    { signal },
  );
  const accumulator = new StreamAccumulator();
  for await (const chunk of chunks) yield* accumulator.take(chunk);
  if (accumulator.isFinished) yield* accumulator.end();
}
