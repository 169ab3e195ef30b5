// The open requests of a window, as a program that is connected to it gets them with its subscriptions (WIRE A).
import { describeError, failed, type Result, succeeded } from '../../base/errors.ts';
import { readApprovalDetails } from '../../protocol/approvalDetails.ts';
import { type FormField } from '../../protocol/page/form.ts';
import { type HostMessageOf, type RequestFields } from '../../protocol/plugin.ts';
import { type ApprovalAnswer, type InquiryRequest } from '../ports/ports.ts';
import { type OpenRequest, type RequestAnswer, type RequestId, RequestList, type RequestsClient } from './requests.ts';

type WindowEvent = HostMessageOf<'event'>;

export interface RemoteRequestsDeps {
  /** Rejects if the window refuses the answer or is gone. */
  respond(fields: RequestFields<'respond'>): Promise<unknown>;
  /** The subscription that the requests of a conversation come with. */
  subscriptionOf(conversation: string): string;
  report(error: unknown): void;
}

export class RemoteRequests extends RequestList implements RequestsClient {
  readonly #deps: RemoteRequestsDeps;

  constructor(deps: RemoteRequestsDeps) {
    super(deps.report);
    this.#deps = deps;
  }

  /** Call with each event of the subscriptions. Events that are not about requests are ignored. */
  receive({ conversation, respond, data }: WindowEvent): void {
    if (data.type === 'resolved') {
      const { tool_call_id: call, inquiry_id: question } = data;
      if (call === undefined) this.remove({ type: 'question', id: textOf(question) });
      else this.remove({ type: 'approval', conversation, id: textOf(call) }, readAnswer(data));
    } else if (respond !== undefined) {
      this.put(respond === 'inquiry' ? readQuestion(conversation, data) : readApproval(conversation, data));
    }
  }

  /** Call when the subscriptions have ended: what is open comes again with new ones. */
  clear(): void {
    for (const open of this.all) this.remove(open);
  }

  /** Shows why an answer was not accepted, if the request is still open. Returns whether it is. */
  explain(which: RequestId, problem: string): boolean {
    const open = this.#find(which);
    if (open === undefined) return false;
    this.put({ ...open, request: { ...open.request, problem } } as OpenRequest);
    return true;
  }

  /** The request stays open until the window reports the answer. */
  async answer(given: RequestAnswer): Promise<Result<void>> {
    const open = this.#find(given);
    if (open === undefined) return failed('already_answered', 'This request was already answered.');
    const sub = { sub_id: this.#deps.subscriptionOf(open.conversation) };
    try {
      if (given.type === 'approval') await this.#deps.respond({ ...sub, ...approvalFields(given) });
      else {
        const answer = typeof given.answer.answer === 'string' ? given.answer.answer : [...given.answer.answer];
        await this.#deps.respond({ ...sub, respond: 'inquiry', inquiry_id: given.id, answer });
      }
      return succeeded(undefined);
    } catch (error) {
      return failed('plugin', describeError(error));
    }
  }

  #find(which: RequestId): OpenRequest | undefined {
    return which.type === 'question' ? this.question(which.id) : this.approval(which.conversation, which.id);
  }
}

function approvalFields({ conversation, id, revision, answer }: Extract<RequestAnswer, { type: 'approval' }>) {
  const { action, reason, always, arguments: args } = answer;
  return {
    respond: 'tool_approval' as const,
    ...{ conversation, tool_call_id: id, action },
    ...(revision !== undefined && { revision }),
    ...(reason !== undefined && { reason }),
    ...(always !== undefined && { always }),
    ...(args !== undefined && { arguments: args }),
  };
}

function readAnswer({ action, by }: WindowEvent['data']): ApprovalAnswer | undefined {
  if (action !== 'approve' && action !== 'reject' && action !== 'modify') return undefined;
  return { action, by: textOf(by) };
}

function readApproval(conversation: string, data: WindowEvent['data']): OpenRequest {
  const id = textOf(data['id']);
  const args = (data['arguments'] ?? {}) as Readonly<Record<string, unknown>>;
  const { revision = 0, ...details } = readApprovalDetails(data);
  const request = { conversation, call: { id, name: textOf(data['name']), arguments: args }, ...details };
  return { type: 'approval', conversation, id, revision, request };
}

function readQuestion(conversation: string, data: WindowEvent['data']): OpenRequest {
  const id = textOf(data['id']);
  const { options, fields, several, problem, tool_call_id: call } = data;
  const request: InquiryRequest = {
    ...{ conversation, id, text: textOf(data['question']), several: several === true },
    ...(Array.isArray(options) && { options: options as readonly string[] }),
    ...(Array.isArray(fields) && { fields: fields as readonly FormField[] }),
    ...(typeof problem === 'string' && { problem }),
    ...(typeof call === 'string' && { call }),
  };
  return { type: 'question', conversation, id, revision: 0, request };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
