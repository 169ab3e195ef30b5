// The body of a request: messages by profile, tools, images, and the model's options that the endpoint has not refused.
import { type ChatCompletionCreateParamsStreaming } from 'openai/resources/chat/completions';
import { type ModelRequest } from '../../core/ports/ports.ts';
import { type ModelOptions } from '../../protocol/settings.ts';
import { type EndpointFacts, type EndpointMemory, type OptionalParameter } from '../endpointMemory.ts';
import { endpointLabel } from '../profile.ts';
import { type Images, toWireTools } from './openaiWire.ts';
import { type MessagePrinter } from './printMessages.ts';

export interface OpenAiOptions {
  readonly baseUrl: string;
  readonly model: string;
  readonly options?: ModelOptions;
  /** What is known about endpoints. By default it is kept only as long as the model object exists. */
  readonly memory?: EndpointMemory | Promise<EndpointMemory>;
  /** Undefined for an endpoint that needs none. */
  apiKey(): Promise<string | undefined>;
}

/** Returns JSON in UTF-8. `printer` belongs to the model and reuses what earlier requests printed. */
export function printBody(
  { baseUrl, model, options = {} }: OpenAiOptions,
  request: ModelRequest,
  { profile, without }: EndpointFacts,
  images: Images,
  printer: MessagePrinter,
): Buffer {
  const tools = toWireTools(request);
  const takes = (parameter: OptionalParameter) => !without.includes(parameter);
  const limit = endpointLabel(baseUrl) === 'OpenAI' ? 'max_completion_tokens' : 'max_tokens';
  const messages = Buffer.concat(printer.print(request, profile, takes('image_url') ? images : undefined));
  const rest: Omit<ChatCompletionCreateParamsStreaming, 'model' | 'messages'> = {
    ...(tools.length > 0 && { tools }),
    ...(options.temperature !== undefined && takes('temperature') && { temperature: options.temperature }),
    ...(options.reasoningEffort !== undefined &&
      takes('reasoning_effort') && { reasoning_effort: options.reasoningEffort }),
    ...(options.maxTokens !== undefined && { [limit]: options.maxTokens }),
    ...(request.schema !== undefined && takes('response_format') && { response_format: jsonSchema(request.schema) }),
    stream: true,
    ...(takes('stream_options') && { stream_options: { include_usage: true } }),
  };
  return Buffer.concat([
    Buffer.from(`{"model":${JSON.stringify(model)},"messages":[`),
    // Without the comma after the last message.
    messages.subarray(0, -1),
    Buffer.from(`],${JSON.stringify(rest).slice(1)}`),
  ]);
}

function jsonSchema(schema: Readonly<Record<string, unknown>>) {
  return { type: 'json_schema' as const, json_schema: { name: 'answer', schema: { ...schema } } };
}

/** Reads the images that the messages name, as data URLs. Images whose bytes are gone are left out. */
export async function loadImages({ messages, image }: ModelRequest): Promise<Images> {
  const images = new Map<string, string>();
  for (const message of messages) {
    if (message.role === 'assistant' || message.images === undefined) continue;
    for (const { hash, mediaType } of message.images) {
      const bytes = images.has(hash) ? undefined : await image?.(hash);
      if (bytes !== undefined) images.set(hash, `data:${mediaType};base64,${Buffer.from(bytes).toString('base64')}`);
    }
  }
  return images;
}
