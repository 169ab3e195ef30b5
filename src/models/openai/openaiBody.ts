// Decides the whole body of a request: messages by profile, tools, and the model's options the endpoint has not refused. Pure.
import { type ChatCompletionCreateParamsStreaming } from 'openai/resources/chat/completions';
import { type ModelRequest } from '../../core/ports/ports.ts';
import { type EndpointFacts, type OptionalParameter } from '../endpointMemory.ts';
import { endpointLabel } from '../profile.ts';
import { type OpenAiOptions } from './openai.ts';
import { type Images, toWireMessages, toWireTools } from './openaiWire.ts';

export function requestBody(
  { baseUrl, model, options = {} }: OpenAiOptions,
  request: ModelRequest,
  { profile, without }: EndpointFacts,
  images: Images = new Map(),
): ChatCompletionCreateParamsStreaming {
  const tools = toWireTools(request);
  const takes = (parameter: OptionalParameter) => !without.includes(parameter);
  const limit = endpointLabel(baseUrl) === 'OpenAI' ? 'max_completion_tokens' : 'max_tokens';
  return {
    model,
    messages: toWireMessages(request, profile, takes('image_url') ? images : undefined),
    ...(tools.length > 0 && { tools }),
    ...(options.temperature !== undefined && takes('temperature') && { temperature: options.temperature }),
    ...(options.reasoningEffort !== undefined &&
      takes('reasoning_effort') && { reasoning_effort: options.reasoningEffort }),
    ...(options.maxTokens !== undefined && { [limit]: options.maxTokens }),
    ...(request.schema !== undefined && takes('response_format') && { response_format: jsonSchema(request.schema) }),
    stream: true,
    ...(takes('stream_options') && { stream_options: { include_usage: true } }),
  };
}

function jsonSchema(schema: Readonly<Record<string, unknown>>) {
  return { type: 'json_schema' as const, json_schema: { name: 'answer', schema: { ...schema } } };
}
