// A Responses endpoint that refuses what OpenAI refuses.
import { randomUUID } from 'node:crypto';
import { type Body, type NativeEndpoint, startNativeEndpoint } from './nativeEndpoint.ts';
import { type OutputItem, type ResponsesAnswer, responsesEvents, toSse } from './responsesEvents.ts';

export interface OpenAiRules {
  /** Developer and system messages exclude each other, and the key comes in its own header. */
  readonly azure?: boolean;
  /** Takes calls without their reasoning, as a summary or another model leaves them. */
  readonly withoutReasoning?: boolean;
}

interface LooseItem {
  readonly type?: string;
  readonly role?: string;
  readonly id?: string;
  readonly call_id?: string;
  readonly content?: readonly { readonly type: string }[];
  readonly encrypted_content?: string | null;
}

interface LooseTool {
  readonly name: string;
  readonly strict?: boolean | null;
}

/** `answer` gets the number of the request and returns the output items; encrypted reasoning is added here. */
export async function startOpenAi(
  answer: (number: number, body: Body) => ResponsesAnswer,
  rules: OpenAiRules = {},
): Promise<NativeEndpoint> {
  /** Encrypted reasoning that was issued, and the model that it was issued for. */
  const issued = new Map<string, string>();
  /** The reasoning that each call was issued with. */
  const reasonedCalls = new Map<string, string>();
  let number = 0;
  const issue = ({ items = [], ...more }: ResponsesAnswer, model: string): ResponsesAnswer => {
    let last: string | undefined;
    const output = items.map((item): OutputItem => {
      if (item.type === 'reasoning') {
        last = `gAAA${randomUUID()}`;
        issued.set(last, model);
        return { id: `rs_${randomUUID()}`, ...item, encrypted_content: last };
      }
      if (item.type === 'function_call' && last !== undefined) reasonedCalls.set(String(item['call_id']), last);
      return { id: `${item.type === 'message' ? 'msg' : 'fc'}_${randomUUID()}`, status: 'completed', ...item };
    });
    return { items: output, ...more };
  };
  return startNativeEndpoint({
    title: toSse(responsesEvents({ items: [textItem('A title')] })),
    reply: ({ path, headers, body }) => {
      const model = String(body['model']);
      const refuse = (message: string, code: string | null = null) => ({
        status: 400,
        body: { error: { message, type: 'invalid_request_error', param: null, code } },
      });
      const wanted = rules.azure === true ? '/openai/v1/responses' : '/v1/responses';
      if (path !== wanted)
        return refuse(
          `Function tools with reasoning_effort are not supported for ${model} at ${path}: use /v1/responses`,
        );
      const key = rules.azure === true ? headers['api-key'] : headers.authorization;
      if (key !== (rules.azure === true ? 'k' : 'Bearer k'))
        return { status: 401, body: { error: { message: 'bad key' } } };
      const fault = findFault(body, { issued, reasonedCalls, rules });
      if (fault !== undefined) return refuse(fault.message, fault.code);
      return { sse: toSse(responsesEvents(issue(answer(number++, body), model))) };
    },
  });
}

export function textItem(text: string, phase = 'final_answer'): OutputItem {
  return { type: 'message', role: 'assistant', phase, content: [{ type: 'output_text', text, annotations: [] }] };
}

export function reasoningItem(text: string): OutputItem {
  return { type: 'reasoning', summary: [{ type: 'summary_text', text }] };
}

export function callItem(id: string, name: string, args: object): OutputItem {
  return { type: 'function_call', call_id: id, name, arguments: JSON.stringify(args) };
}

interface Known {
  readonly issued: ReadonlyMap<string, string>;
  readonly reasonedCalls: ReadonlyMap<string, string>;
  readonly rules: OpenAiRules;
}

function findFault(
  body: Body,
  { issued, reasonedCalls, rules }: Known,
): { message: string; code?: string } | undefined {
  const input = body['input'] as readonly LooseItem[];
  const loose = ((body['tools'] ?? []) as readonly LooseTool[]).find(({ strict }) => strict !== false);
  if (loose !== undefined)
    return {
      message: `Invalid schema for function '${loose.name}': 'required' is required to be supplied and to be an array including every key`,
    };
  if (body['store'] !== false) return { message: 'store must be false here' };
  const roles = new Set(input.map(({ role }) => role));
  if (rules.azure === true && roles.has('developer') && roles.has('system'))
    return { message: 'developer and system messages cannot be mixed' };
  const awaited = new Set<string>();
  const calls = new Set<string>();
  for (const [index, item] of input.entries()) {
    if (item.id !== undefined)
      return { message: `Item with id '${item.id}' not found. Items are not persisted when store is set to false.` };
    if (item.type === 'function_call_output') {
      const id = item.call_id ?? '';
      if (!calls.has(id)) return { message: `No tool call found for function call output with call_id ${id}.` };
      awaited.delete(id);
      continue;
    }
    if (item.type === 'function_call') {
      const id = item.call_id ?? '';
      calls.add(id);
      awaited.add(id);
      const reasoning = reasonedCalls.get(id);
      const before = input.slice(0, index).findLast(({ type }) => type === 'reasoning');
      if (rules.withoutReasoning !== true && reasoning !== undefined && before?.encrypted_content !== reasoning) {
        return {
          message: `Item 'fc_${id}' of type 'function_call' was provided without its required 'reasoning' item: 'rs_${id}'.`,
        };
      }
      continue;
    }
    if (awaited.size > 0 && (item.role === 'user' || item.role === 'developer')) {
      return { message: `No tool output found for function call ${[...awaited].join(', ')}.` };
    }
    if (item.type === 'reasoning') {
      const next = input[index + 1];
      const isFollowed = next?.type === 'function_call' || next?.type === 'reasoning' || next?.role === 'assistant';
      if (!isFollowed)
        return { message: `Item 'rs_${index}' of type 'reasoning' was provided without its required following item.` };
      if (issued.get(item.encrypted_content ?? '') !== body['model']) {
        return { message: 'The encrypted content could not be verified.', code: 'invalid_encrypted_content' };
      }
    }
    const wrong = item.role === 'assistant' && item.content?.find(({ type }) => type === 'input_text');
    if (wrong) return { message: "Invalid value: 'input_text'. Supported values are: 'output_text' and 'refusal'." };
  }
  if (awaited.size > 0) return { message: `No tool output found for function call ${[...awaited].join(', ')}.` };
  return undefined;
}
