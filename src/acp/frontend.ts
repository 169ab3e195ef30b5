// The client as a front end: streams the model's answers to it, and asks it for approvals and answers of the user.
import { join } from 'node:path';
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
  request(method: string, params: object, signal: AbortSignal): Promise<unknown>;
}

interface OpenApproval {
  request: ApprovalRequest;
  /** Cancels the client's request. */
  asked: AbortController;
}

const BY = 'user';
const OPTIONS = { once: 'allow-once', reject: 'reject-once' } as const;
const ALWAYS_OPTIONS = [
  { scope: 'conversation', optionId: 'allow-always', where: 'in this session' },
  { scope: 'folder', optionId: 'allow-always-in-folder', where: 'in this folder' },
] as const;

export class ClientFrontend implements AttachedFrontend {
  readonly #client: ClientDeps;
  readonly #calls: Pick<UpdateDeps, 'effectOf' | 'folder'>;
  readonly #open = new Map<string, OpenApproval>();

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

  /** Rejects the call if the client is gone or its answer is not valid. */
  async approve(request: ApprovalRequest, signal: AbortSignal): Promise<ApprovalAnswer> {
    const open: OpenApproval = { request, asked: new AbortController() };
    const abort = () => open.asked.abort();
    signal.addEventListener('abort', abort, { once: true });
    const key = approvalKey(request);
    this.#open.set(key, open);
    try {
      for (;;) {
        signal.throwIfAborted();
        const { asked } = open;
        try {
          return await this.#approveShown(open.request, asked.signal);
        } catch (error) {
          // Asked again if the preview has changed meanwhile.
          if (signal.aborted || asked === open.asked) throw error;
        }
      }
    } finally {
      signal.removeEventListener('abort', abort);
      if (this.#open.get(key) === open) this.#open.delete(key);
    }
  }

  /** Withdraws the question and asks again, since clients cannot update it: only changes that were shown are approved. */
  approvalChanged(request: ApprovalRequest): void {
    const open = this.#open.get(approvalKey(request));
    if (open === undefined) return;
    const { asked } = open;
    open.request = request;
    open.asked = new AbortController();
    asked.abort();
  }

  async #approveShown(request: ApprovalRequest, signal: AbortSignal): Promise<ApprovalAnswer> {
    const { conversation, call, reason, note, problem, always, preview, task } = request;
    const { id, name, arguments: args } = call;
    const ofTask = task === undefined ? undefined : describeTask(task);
    const texts = [ofTask, reason, note, problem, preview?.refusal].filter((text) => text !== undefined);
    const content = [...describePreview(this.#calls.folder, preview), ...texts.map(textContent)];
    const toolCall = { ...describeCall(id, name, args, this.#calls), ...(content.length > 0 && { content }) };
    const options = [
      { optionId: OPTIONS.once, name: 'Allow once', kind: 'allow_once' },
      ...(always === undefined ? [] : ALWAYS_OPTIONS).map(({ optionId, where }) => ({
        optionId,
        name: `Always allow ${where}: ${always}`,
        kind: 'allow_always',
      })),
      { optionId: OPTIONS.reject, name: 'Reject', kind: 'reject_once' },
    ];
    const answered = await this.#ask(
      'session/request_permission',
      { sessionId: conversation, toolCall, options },
      signal,
    );
    const { outcome, optionId } = permissionAnswerSchema.safeParse(answered).data?.outcome ?? { outcome: 'cancelled' };
    if (outcome === 'selected' && optionId === OPTIONS.once) return { action: 'approve', by: BY };
    const chosen = ALWAYS_OPTIONS.find((option) => outcome === 'selected' && option.optionId === optionId);
    if (chosen !== undefined && always !== undefined) {
      return { action: 'approve', always: { scope: chosen.scope }, by: BY };
    }
    return { action: 'reject', by: BY, ...(outcome === 'cancelled' && { reason: 'The question was cancelled.' }) };
  }

  /** A client without support for forms refuses the request, which counts as an empty or cancelled answer. */
  async ask(request: InquiryRequest, signal: AbortSignal): Promise<InquiryAnswer> {
    const answered = await this.#ask('elicitation/create', describeInquiry(request), signal);
    return { answer: readInquiryAnswer(request, answered), by: BY };
  }

  /** Undefined: the client refused, or is gone. Rejects only if the signal is aborted. */
  async #ask(method: string, params: object, signal: AbortSignal): Promise<unknown> {
    const { promise: aborted, reject } = Promise.withResolvers<never>();
    const abort = () => reject(new Error('aborted'));
    signal.addEventListener('abort', abort, { once: true });
    try {
      signal.throwIfAborted();
      const answer = this.#client.request(method, params, signal).catch(() => undefined);
      return await Promise.race([answer, aborted]);
    } finally {
      signal.removeEventListener('abort', abort);
    }
  }
}

function approvalKey({ conversation, call }: ApprovalRequest): string {
  return `${conversation} ${call.id}`;
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
