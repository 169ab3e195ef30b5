// Asks a client of the protocol what the user is asked: approvals, questions and forms.
import { join } from 'node:path';
import { aborted, ignore } from '../base/async.ts';
import { type Disposable } from '../base/disposable.ts';
import { describeFailure } from '../base/errors.ts';
import { type Client } from '../core/client/client.ts';
import { type OpenRequest, type RequestChange, requestKey } from '../core/client/requests.ts';
import { type ApprovalRequest, type InquiryRequest } from '../core/ports/ports.ts';
import { type VerbParams } from '../protocol/client/verbs.ts';
import { type CallPreview, type FileDiff } from '../protocol/page/diffView.ts';
import { type TaskView } from '../protocol/page/taskView.ts';
import { type TextOrigin } from '../protocol/page/textOrigin.ts';
import { permissionAnswerSchema } from '../protocol/outside/acp.ts';
import { describeInquiry, readInquiryAnswer } from './elicitation.ts';
import { describeCall, textContent, type UpdateDeps } from './updates.ts';

export interface AskingDeps extends Pick<UpdateDeps, 'effectOf' | 'folder'> {
  readonly client: Client;
  /** Whether the client can answer questions. */
  readonly questions: boolean;
  /** Whether the client has opened the conversation. */
  isSession(conversation: string): boolean;
  /** Abort the signal if the answer is not needed any more. */
  request(session: string, method: string, params: object, signal: AbortSignal): Promise<unknown>;
  report(what: string, error: unknown): void;
}

const OPTIONS = { once: 'allow-once', reject: 'reject-once' } as const;
const SCOPES = [
  { scope: 'conversation', suffix: '', where: 'in this session' },
  { scope: 'folder', suffix: '-in-folder', where: 'in this folder' },
] as const;

export class Asking implements Disposable {
  readonly #deps: AskingDeps;
  readonly #asked = new Map<string, AbortController>();
  readonly #listening: Disposable;

  constructor(deps: AskingDeps) {
    this.#deps = deps;
    this.#listening = deps.client.requests.onDidChange((change) => this.#changed(change));
  }

  /** Asks the open requests that were not asked yet, because their session was not open. */
  askOpen(): void {
    for (const open of this.#deps.client.requests.all) if (!this.#asked.has(requestKey(open))) this.#begin(open);
  }

  dispose(): void {
    this.#listening.dispose();
    for (const one of this.#asked.values()) one.abort();
  }

  /** Clients cannot update a question: it is withdrawn and asked again, so that only what was shown is approved. */
  #changed({ type, open }: RequestChange): void {
    this.#asked.get(requestKey(open))?.abort();
    this.#asked.delete(requestKey(open));
    // Unless a later change asks.
    if (type !== 'closed' && this.#deps.client.requests.all.includes(open)) this.#begin(open);
  }

  #begin(open: OpenRequest): void {
    const { questions, isSession } = this.#deps;
    if (!isSession(open.conversation) || (open.type === 'question' && !questions)) return;
    const asked = new AbortController();
    this.#asked.set(requestKey(open), asked);
    this.#ask(open, asked.signal).catch((error: unknown) => {
      if (!asked.signal.aborted) this.#deps.report('an answer of the client was not accepted', error);
    });
  }

  /** Rejects the call if the client is gone or its answer is not valid. */
  async #ask(open: OpenRequest, signal: AbortSignal): Promise<void> {
    const { client } = this.#deps;
    const answered =
      open.type === 'approval'
        ? await client.call('approve', {
            ...(await this.#approve(open.request, signal)),
            ...{ conversation: open.conversation, tool_call_id: open.id, revision: open.revision },
          })
        : await client.call('answer', {
            inquiry_id: open.id,
            answer: await this.#inquire(open.request, signal),
          });
    // Answered elsewhere, or changed and asked again.
    if (!answered.ok && !signal.aborted) throw new Error(describeFailure(answered.failure));
  }

  async #approve(
    request: ApprovalRequest,
    signal: AbortSignal,
  ): Promise<Pick<VerbParams<'approve'>, 'action' | 'always' | 'reason'>> {
    const { conversation, call, reason, note, problem, preview, task, origins = [] } = request;
    const { id, name, arguments: args } = call;
    const ofTask = task === undefined ? undefined : describeTask(task);
    const texts = [ofTask, reason, note, problem, preview?.refusal, ...origins.map(describeOrigin)].filter(
      (text) => text !== undefined,
    );
    const content = [...describePreview(this.#deps.folder, preview), ...texts.map(textContent)];
    const toolCall = { ...describeCall(id, name, args, this.#deps), ...(content.length > 0 && { content }) };
    const always = alwaysOptions(request);
    const options = [
      { optionId: OPTIONS.once, name: 'Allow once', kind: 'allow_once' },
      ...always.map(({ optionId, name: label }) => ({ optionId, name: label, kind: 'allow_always' })),
      { optionId: OPTIONS.reject, name: 'Reject', kind: 'reject_once' },
    ];
    const params = { sessionId: conversation, toolCall, options };
    const answered = await this.#request(conversation, 'session/request_permission', params, signal);
    const { outcome, optionId } = permissionAnswerSchema.safeParse(answered).data?.outcome ?? { outcome: 'cancelled' };
    if (outcome === 'selected' && optionId === OPTIONS.once) return { action: 'approve' };
    const chosen = always.find((option) => outcome === 'selected' && option.optionId === optionId);
    if (chosen !== undefined) return { action: 'approve', always: chosen.always };
    return { action: 'reject', ...(outcome === 'cancelled' && { reason: 'The question was cancelled.' }) };
  }

  /** A client without support for forms refuses the request, which counts as an empty or cancelled answer. */
  async #inquire(request: InquiryRequest, signal: AbortSignal): Promise<string | string[]> {
    const params = describeInquiry(request);
    return readInquiryAnswer(request, await this.#request(request.conversation, 'elicitation/create', params, signal));
  }

  /** Undefined: the client refused, or is gone. Rejects only if the signal is aborted. */
  async #request(session: string, method: string, params: object, signal: AbortSignal): Promise<unknown> {
    signal.throwIfAborted();
    const answer = this.#deps.request(session, method, params, signal).catch(ignore);
    const answered = await Promise.race([answer, aborted(signal)]);
    signal.throwIfAborted();
    return answered;
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

function describeOrigin({ text, source: { type, name }, call }: TextOrigin): string {
  const place = [`${type} ${name}`.trim(), ...(call === undefined ? [] : [`(call ${call})`])].join(' ');
  return `“${text}” came from outside: ${place}`;
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
