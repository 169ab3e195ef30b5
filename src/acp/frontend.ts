// The client as a front end: streams the model's answers to it, and asks it for approvals and answers of the user.
import { join } from 'node:path';
import { type Disposable, toDisposable } from '../base/disposable.ts';
import { describeFailure } from '../base/errors.ts';
import { type OpenRequest, type RequestAnswer, type RequestsClient } from '../core/client/requests.ts';
import { type AttachedFrontend } from '../core/frontend/frontends.ts';
import {
  type ApprovalAnswer,
  type ApprovalRequest,
  type InquiryAnswer,
  type InquiryRequest,
  type PartialAnswer,
} from '../core/ports/ports.ts';
import { type CallPreview, type FileDiff } from '../protocol/page/diffView.ts';
import { type TaskView } from '../protocol/page/taskView.ts';
import { permissionAnswerSchema } from '../protocol/outside/acp.ts';
import { describeInquiry, readInquiryAnswer } from './elicitation.ts';
import { chunk, describeCall, type SessionUpdate, textContent, type UpdateDeps } from './updates.ts';

export interface ClientDeps {
  /** Updates are sent in the order of these calls. */
  update(session: string, update: SessionUpdate): void;
  /** A tool call has started. It may not have been announced to the client yet. */
  started(session: string, call: string): void;
  /** More output of a running call. */
  output(session: string, call: string, text: string): void;
  /** Abort the signal if the answer is not needed any more. */
  request(session: string, method: string, params: object, signal: AbortSignal): Promise<unknown>;
  report(what: string, error: unknown): void;
}

const BY = 'user';
const OPTIONS = { once: 'allow-once', reject: 'reject-once' } as const;
const SCOPES = [
  { scope: 'conversation', suffix: '', where: 'in this session' },
  { scope: 'folder', suffix: '-in-folder', where: 'in this folder' },
] as const;

export class ClientFrontend implements AttachedFrontend {
  readonly #client: ClientDeps;
  readonly #calls: Pick<UpdateDeps, 'effectOf' | 'folder'>;

  constructor(client: ClientDeps, calls: Pick<UpdateDeps, 'effectOf' | 'folder'>) {
    this.#client = client;
    this.#calls = calls;
  }

  render(conversation: string, partial: PartialAnswer): void {
    if (partial.type === 'answer_text') {
      const type = partial.field === 'text' ? 'agent_message_chunk' : 'agent_thought_chunk';
      this.#client.update(conversation, chunk(type, partial.text));
    } else if (partial.type === 'tool_started') {
      this.#client.started(conversation, partial.call);
    } else if (partial.type === 'tool_output') {
      this.#client.output(conversation, partial.call, partial.text);
    }
  }

  /** Asks the client the open requests, and those that follow; `questions`: whether it can answer questions. */
  follow(requests: RequestsClient, { questions }: { readonly questions: boolean }): Disposable {
    const asking = new Map<string, AbortController>();
    const withdraw = ({ type, conversation, id }: OpenRequest) => {
      const key = `${type} ${conversation} ${id}`;
      asking.get(key)?.abort();
      asking.delete(key);
      return key;
    };
    // Clients cannot update a question: it is withdrawn and asked again, so that only what was shown is approved.
    const ask = (open: OpenRequest) => {
      if (open.type === 'question' && !questions) return;
      const asked = new AbortController();
      asking.set(withdraw(open), asked);
      this.#ask(requests, open, asked.signal).catch((error: unknown) => {
        if (!asked.signal.aborted) this.#client.report('an answer of the client was not accepted', error);
      });
    };
    const listening = requests.onDidChange(({ type, open }) => {
      if (type === 'closed') withdraw(open);
      // A change that is not the latest one: the next one asks.
      else if (requests.all.includes(open)) ask(open);
    });
    requests.all.forEach(ask);
    return toDisposable(() => {
      listening.dispose();
      for (const one of asking.values()) one.abort();
    });
  }

  /** Rejects the call if the client is gone or its answer is not valid. */
  async #ask(requests: RequestsClient, open: OpenRequest, signal: AbortSignal): Promise<void> {
    const { id, conversation, revision } = open;
    const given: RequestAnswer =
      open.type === 'approval'
        ? { type: 'approval', conversation, id, revision, answer: await this.#approve(open.request, signal) }
        : { type: 'question', id, answer: await this.#inquire(open.request, signal) };
    signal.throwIfAborted();
    const answered = await requests.answer(given);
    // Answered elsewhere, or changed and asked again.
    if (!answered.ok && !signal.aborted) throw new Error(describeFailure(answered.failure));
  }

  async #approve(request: ApprovalRequest, signal: AbortSignal): Promise<ApprovalAnswer> {
    const { conversation, call, reason, note, problem, preview, task } = request;
    const { id, name, arguments: args } = call;
    const ofTask = task === undefined ? undefined : describeTask(task);
    const texts = [ofTask, reason, note, problem, preview?.refusal].filter((text) => text !== undefined);
    const content = [...describePreview(this.#calls.folder, preview), ...texts.map(textContent)];
    const toolCall = { ...describeCall(id, name, args, this.#calls), ...(content.length > 0 && { content }) };
    const always = alwaysOptions(request);
    const options = [
      { optionId: OPTIONS.once, name: 'Allow once', kind: 'allow_once' },
      ...always.map(({ optionId, name: label }) => ({ optionId, name: label, kind: 'allow_always' })),
      { optionId: OPTIONS.reject, name: 'Reject', kind: 'reject_once' },
    ];
    const params = { sessionId: conversation, toolCall, options };
    const answered = await this.#request(conversation, 'session/request_permission', params, signal);
    const { outcome, optionId } = permissionAnswerSchema.safeParse(answered).data?.outcome ?? { outcome: 'cancelled' };
    if (outcome === 'selected' && optionId === OPTIONS.once) return { action: 'approve', by: BY };
    const chosen = always.find((option) => outcome === 'selected' && option.optionId === optionId);
    if (chosen !== undefined) return { action: 'approve', always: chosen.always, by: BY };
    return { action: 'reject', by: BY, ...(outcome === 'cancelled' && { reason: 'The question was cancelled.' }) };
  }

  /** A client without support for forms refuses the request, which counts as an empty or cancelled answer. */
  async #inquire(request: InquiryRequest, signal: AbortSignal): Promise<InquiryAnswer> {
    const answered = await this.#request(request.conversation, 'elicitation/create', describeInquiry(request), signal);
    return { answer: readInquiryAnswer(request, answered), by: BY };
  }

  /** Undefined: the client refused, or is gone. Rejects only if the signal is aborted. */
  async #request(session: string, method: string, params: object, signal: AbortSignal): Promise<unknown> {
    const { promise: aborted, reject } = Promise.withResolvers<never>();
    const abort = () => reject(new Error('aborted'));
    signal.addEventListener('abort', abort, { once: true });
    try {
      signal.throwIfAborted();
      const answer = this.#client.request(session, method, params, signal).catch(() => undefined);
      return await Promise.race([answer, aborted]);
    } finally {
      signal.removeEventListener('abort', abort);
    }
  }
}

/** One option for each scope, and for each scope of the whole MCP server. */
function alwaysOptions({ always, alwaysServer }: ApprovalRequest) {
  const options = (prefix: string, covers: string | undefined, server?: true) =>
    (covers === undefined ? [] : SCOPES).map(({ scope, suffix, where }) => ({
      optionId: `${prefix}${suffix}`,
      name: `Always allow ${where}: ${covers}`,
      always: { scope, ...(server && { server }) },
    }));
  const ofServer = alwaysServer === undefined ? undefined : `every tool of ${alwaysServer}`;
  return [...options('allow-always', always), ...options('allow-always-server', ofServer, true)];
}

/** What a task would run, and before it the tasks that it depends on. */
function describeTask({ name, command, unknown, folder, facts, before }: TaskView): string {
  const lines = [
    `${name}: ${command ?? (unknown === true ? 'the command is not known' : 'runs only other tasks')}`,
    ...(folder === undefined ? [] : [`folder: ${folder}`]),
    ...facts.map(({ fact, text }) => `${fact.replace('_', ' ')}: ${text}`),
  ];
  return [...before.map(describeTask), lines.join('\n')].join('\n\n');
}

/** The changes that a call would make: one diff for each changed part of a file, and in words what has no diff. */
function describePreview(folder: string, preview: CallPreview | undefined): object[] {
  const { files = [], more = 0 } = preview ?? {};
  const rest = [...files.flatMap(describeRest), ...(more === 0 ? [] : [`${more} more files change.`])];
  return [...files.flatMap((file) => describeHunks(folder, file)), ...rest.map(textContent)];
}

/** What the hunks of a file do not show. */
function describeRest({ path, kind, from, cut = 0, note, sizes }: FileDiff): readonly string[] {
  if (from !== undefined) return [`${from} is moved to ${path}.`];
  const bytes = [sizes?.before, sizes?.after].map((size) => (size === undefined ? 'nothing' : `${size} bytes`));
  return [
    ...(note === undefined ? [] : [`${path} is ${kind}: ${bytes.join(' become ')}, which cannot be shown.`]),
    ...(cut === 0 ? [] : [`${path}: ${cut} more lines change.`]),
  ];
}

function describeHunks(folder: string, { path, kind, hunks }: FileDiff): object[] {
  return hunks.map(({ lines }) => {
    const side = (mark: string) =>
      lines.flatMap((line) => (line.startsWith(' ') || line.startsWith(mark) ? [`${line.slice(1)}\n`] : [])).join('');
    const oldText = kind === 'created' ? null : side('-');
    return { type: 'diff', path: join(folder, path), oldText, newText: side('+') };
  });
}
