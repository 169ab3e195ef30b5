// Scripted endpoints on loopback with the APIs that other vendors' agents call: Anthropic's Messages (the real Claude
// Code) and OpenAI's Responses (the real Codex).
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { atTestEnd } from '../endings.ts';

/** What the model answers: a text, or the call of a tool. An input that is text is passed as it is. */
export type ScriptedStep = string | { readonly tool: string; readonly input: object | string };

export interface ScriptedEndpoint {
  readonly url: string;
  /** Everything that the agent has sent to the model, with the last request of the conversation. */
  sent(): readonly unknown[];
}

type Answer = (sent: readonly unknown[]) => Promise<ScriptedStep>;
type Send = (type: string, data: object) => void;

interface ModelRequest {
  readonly tools?: readonly { readonly name?: string }[];
  readonly messages?: readonly unknown[];
  readonly input?: readonly unknown[];
}

/** The model of Claude Code. Its requests without tools, such as for a title, get a text. */
export function startMessagesEndpoint(answer: Answer): Promise<ScriptedEndpoint> {
  return startEndpoint(
    answer,
    ({ tools, messages }) => tools?.some(({ name }) => name === 'Edit') && messages,
    sendMessage,
  );
}

/** The model of Codex. */
export function startResponsesEndpoint(answer: Answer): Promise<ScriptedEndpoint> {
  return startEndpoint(answer, ({ input }) => input, sendResponse);
}

async function startEndpoint(
  answer: Answer,
  conversationIn: (request: ModelRequest) => readonly unknown[] | false | undefined,
  write: (send: Send, id: number, step: ScriptedStep) => void,
): Promise<ScriptedEndpoint> {
  let [requests, last]: [number, readonly unknown[]] = [0, []];
  const respond = async (request: IncomingMessage, response: ServerResponse) => {
    if (request.method !== 'POST') return response.writeHead(404).end();
    const conversation = conversationIn((await json(request)) as ModelRequest);
    if (conversation) last = conversation;
    const step = conversation ? await answer(conversation) : 'A title';
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const send = (type: string, data: object) =>
      response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
    write(send, ++requests, step);
    return response.end();
  };
  const server = createServer((request, response) => {
    respond(request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  atTestEnd(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, sent: () => last };
}

function sendMessage(send: Send, id: number, step: ScriptedStep): void {
  const usage = { input_tokens: 1, output_tokens: 1 };
  const head = { id: `msg_${id}`, type: 'message', role: 'assistant', model: 'claude-test', content: [] };
  send('message_start', { message: { ...head, stop_reason: null, stop_sequence: null, usage } });
  const isText = typeof step === 'string';
  const content_block = isText
    ? { type: 'text', text: '' }
    : { type: 'tool_use', id: `toolu_${id}`, name: step.tool, input: {} };
  const delta = isText
    ? { type: 'text_delta', text: step }
    : { type: 'input_json_delta', partial_json: JSON.stringify(step.input) };
  send('content_block_start', { index: 0, content_block });
  send('content_block_delta', { index: 0, delta });
  send('content_block_stop', { index: 0 });
  send('message_delta', { delta: { stop_reason: isText ? 'end_turn' : 'tool_use', stop_sequence: null }, usage });
  send('message_stop', {});
}

function sendResponse(send: Send, id: number, step: ScriptedStep): void {
  send('response.created', { response: { id: `r${id}` } });
  send('response.output_item.done', { output_index: 0, item: responseItem(id, step) });
  const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
  send('response.completed', { response: { id: `r${id}`, usage } });
}

function responseItem(number: number, step: ScriptedStep): object {
  const id = `i${number}`;
  if (typeof step === 'string') {
    return { type: 'message', role: 'assistant', id, content: [{ type: 'output_text', text: step }] };
  }
  const { tool: name, input } = step;
  const call = { id, call_id: `call_${number}`, name };
  return typeof input === 'string'
    ? { type: 'custom_tool_call', ...call, input }
    : { type: 'function_call', ...call, arguments: JSON.stringify(input) };
}
