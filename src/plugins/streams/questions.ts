// Open approvals and questions, for plugins: offers them, accepts the first answer, and uses the configured fallback
// after a time-out.
import { type Clock } from '../../base/clock.ts';
import { type Disposable } from '../../base/disposable.ts';
import { failed, type Result, succeeded } from '../../base/errors.ts';
import { isDeeperThan, MOST_DEPTH, TOO_DEEP } from '../../base/json/outsideJson.ts';
import { type Earshot } from '../../core/earshot.ts';
import { type AnsweredRequest, type AttachedFrontend } from '../../core/frontend/frontends.ts';
import {
  type ApprovalAnswer,
  type ApprovalRequest,
  type InquiryAnswer,
  type InquiryRequest,
  type PartialAnswer,
  TIMED_OUT,
} from '../../core/ports/ports.ts';
import { type Views } from '../../core/ports/storage.ts';
import { approvalDetails } from '../../protocol/approvalDetails.ts';
import { type Settings } from '../../protocol/settings.ts';
import { type HostMessageOf, type RequestOf, type ResolvedData } from '../../protocol/plugin.ts';
import { type Pieces } from './pieces.ts';
import { type Subscription } from './subscription.ts';

/** Longest interval between checks whether a view shows the question. */
const CHECK_EVERY = 5000;
/** How many answered questions are remembered, so that the refusal of a late answer can name who answered first. */
const REMEMBERED = 1000;

export interface QuestionsDeps {
  readonly earshot: Earshot;
  readonly clock: Clock;
  readonly pieces: Pieces;
  readonly views: Pick<Views, 'isShown'>;
  settings(): Pick<Settings, 'plugins.respondTimeout' | 'plugins.respondFallback'>;
  /** The subscriptions of a conversation that may answer. */
  answering(conversation: string): readonly Subscription[];
  /** Whether a plugin's query started the running turn: then there may be no other front end to answer. */
  isQueried(conversation: string): boolean;
  report(error: unknown): void;
}

/** The plugin that answers, and its process. */
type Answerer = Pick<ApprovalAnswer, 'by' | 'program'>;

type Given =
  | { readonly respond: 'tool_approval'; readonly answer: ApprovalAnswer }
  | { readonly respond: 'inquiry'; readonly answer: InquiryAnswer };

interface OpenQuestion {
  readonly respond: 'tool_approval' | 'inquiry';
  readonly conversation: string;
  /** The tool call's id, or the question's. */
  readonly id: string;
  request: ApprovalRequest | InquiryRequest;
  /** The number of the event that asks, the event, and the event with what the user is shown besides it. */
  readonly seq: number;
  readonly logged: HostMessageOf<'event'>['data'];
  data: HostMessageOf<'event'>['data'];
  /** The subscriptions that the question was offered to and that still exist. */
  readonly asked: Set<Subscription>;
  /** Whether any plugin was asked, even if it is gone. */
  offered: boolean;
  settle(given: Given): void;
  timer?: Disposable;
  /** When a view last showed it to the user, or else when it was opened. */
  since: number;
}

/** One front end for all plugins. It gets every question and offers it to the subscriptions that may answer. */
export class Questions implements AttachedFrontend, Disposable {
  readonly #deps: QuestionsDeps;
  readonly #open = new Map<string, OpenQuestion>();
  /** Who answered, by the question's key, oldest first. */
  readonly #answered = new Map<string, string>();

  constructor(deps: QuestionsDeps) {
    this.#deps = deps;
  }

  render(conversation: string, partial: PartialAnswer): void {
    this.#deps.pieces.render(conversation, partial);
  }

  approve(request: ApprovalRequest, signal: AbortSignal): Promise<ApprovalAnswer> {
    const { conversation, call } = request;
    const unanswered = this.#deps.earshot.get(conversation)?.log.state.turn.unanswered ?? [];
    const event = unanswered.find((one) => one.request.id === call.id)?.request;
    const { v: _, ...logged } = event ?? { v: 1, seq: 0, type: 'tool_call_request', ...call };
    return new Promise((resolve, reject) => {
      const question = {
        respond: 'tool_approval',
        conversation,
        id: call.id,
        request,
        seq: logged.seq,
        logged,
        data: { ...logged, ...approvalDetails({ ...request }) },
      } as const;
      this.#ask(question, signal, (given) => given.respond === 'tool_approval' && resolve(given.answer), reject);
    });
  }

  /** Sends the question again, so that nobody approves changes that were not shown. */
  approvalChanged(request: ApprovalRequest): void {
    const open = this.#open.get(questionKey(request.conversation, request.call.id));
    if (open === undefined) return;
    open.request = request;
    open.data = { ...open.logged, ...approvalDetails({ ...request }) };
    for (const subscription of open.asked) this.#send(open, subscription);
  }

  ask(request: InquiryRequest, signal: AbortSignal): Promise<InquiryAnswer> {
    const { conversation, id, call, text, options, several, fields, problem } = request;
    const asked = call === undefined ? undefined : this.#deps.earshot.get(conversation)?.log.state.turn.inquiry(call);
    const form = fields && { fields: [...fields] };
    const shown = {
      id,
      question: text,
      ...(options && { options: [...options] }),
      ...(several && { several }),
      ...form,
    };
    const { v: _, ...logged } = asked?.request ?? { v: 1, seq: 0, type: 'inquiry_request', ...shown };
    return new Promise((resolve, reject) => {
      const data = { ...logged, ...(problem !== undefined && { problem }) };
      const question = { respond: 'inquiry', conversation, id, request, seq: logged.seq, logged, data } as const;
      this.#ask(question, signal, (given) => given.respond === 'inquiry' && resolve(given.answer), reject);
    });
  }

  answeredElsewhere(answered: AnsweredRequest): void {
    const isCall = answered.type === 'approval';
    const { conversation } = answered.request;
    const open = this.#open.get(
      isCall ? questionKey(conversation, answered.request.call.id) : questionKey(conversation, answered.request.id),
    );
    if (open === undefined) return;
    this.#close(
      open,
      isCall ? { respond: 'tool_approval', answer: answered.answer } : { respond: 'inquiry', answer: answered.answer },
    );
  }

  /** Offers the open questions of a conversation to a subscription that may answer. */
  offerTo(subscription: Subscription, conversation: string): void {
    for (const open of this.#open.values()) if (open.conversation === conversation) this.#offer(open, subscription);
  }

  /** The conversations with open questions. */
  get conversations(): readonly string[] {
    return [...new Set([...this.#open.values()].map(({ conversation }) => conversation))];
  }

  /** Removes a subscription, which then gets no `resolved` events. */
  leave(subscription: Subscription): void {
    for (const { asked } of this.#open.values()) asked.delete(subscription);
  }

  /** Handles a plugin's answer. After a failure the question stays open. */
  answer(subscription: Subscription, given: RequestOf<'respond'>, who: Answerer): Result<void> {
    const id = given.respond === 'tool_approval' ? given.tool_call_id : given.inquiry_id;
    const named = given.respond === 'tool_approval' ? given.conversation : undefined;
    const covers = (one: string) => subscription.covers(one) && (named === undefined || one === named);
    const [open, other] = [...this.#open.values()].filter(
      (one) => one.id === id && one.respond === given.respond && covers(one.conversation),
    );
    // Calls of several conversations may have the same id: the answer must not go to the wrong one.
    if (other !== undefined) {
      return failed('plugin', `conversation: missing. Approvals “${id.slice(0, 100)}” are open in several.`);
    }
    if (open === undefined) {
      const isAsked = (key: string) => key.endsWith(` ${id}`) && covers(key.slice(0, key.indexOf(' ')));
      const before = [...this.#answered].findLast(([key]) => isAsked(key))?.[1];
      const what = given.respond === 'tool_approval' ? 'approval' : 'question';
      return failed(
        'plugin',
        before === undefined ? `No ${what} “${id.slice(0, 100)}” is open.` : `It was already answered by ${before}.`,
      );
    }
    const answer = this.#readAnswer(open, given, who);
    if (!answer.ok) return answer;
    this.#close(open, answer.value);
    open.settle(answer.value);
    return succeeded(undefined);
  }

  dispose(): void {
    for (const open of this.#open.values()) open.timer?.dispose();
    this.#open.clear();
  }

  #ask(
    question: Omit<OpenQuestion, 'asked' | 'offered' | 'settle' | 'since'>,
    signal: AbortSignal,
    settle: (given: Given) => void,
    cancel: (error: Error) => void,
  ): void {
    const { clock } = this.#deps;
    const open: OpenQuestion = { ...question, asked: new Set(), offered: false, settle, since: clock.now() };
    const key = questionKey(open.conversation, open.id);
    this.#open.set(key, open);
    this.#answered.delete(key);
    const aborted = () => {
      cancel(new Error('cancelled'));
      // Deferred, since right after the signal `answeredElsewhere` may name the front end that answered.
      void Promise.resolve()
        .then(() => this.#open.get(key) === open && this.#close(open, undefined))
        .catch((error: unknown) => this.#deps.report(error));
    };
    signal.addEventListener('abort', aborted, { once: true });
    if (signal.aborted) return aborted();
    for (const subscription of this.#deps.answering(open.conversation)) this.#offer(open, subscription);
    this.#scheduleCheck(open);
  }

  #offer(open: OpenQuestion, subscription: Subscription): void {
    if (open.asked.has(subscription)) return;
    open.asked.add(subscription);
    open.offered = true;
    this.#send(open, subscription);
  }

  #send({ conversation, respond, data, seq }: OpenQuestion, subscription: Subscription): void {
    subscription.announce(conversation, { type: 'event', sub_id: subscription.id, conversation, respond, data }, seq);
  }

  /** `given` undefined: it was cancelled, because the turn was stopped or continues in another window. */
  #close(open: OpenQuestion, given: Given | undefined): void {
    const { conversation, id, asked, respond, seq } = open;
    open.timer?.dispose();
    const key = questionKey(conversation, id);
    this.#open.delete(key);
    const by = given?.answer.by ?? 'cancelled';
    this.#answered.set(key, by);
    const [oldest] = this.#answered.keys();
    if (this.#answered.size > REMEMBERED && oldest !== undefined) this.#answered.delete(oldest);
    const data: ResolvedData = {
      type: 'resolved',
      ...(respond === 'tool_approval' ? { tool_call_id: id } : { inquiry_id: id }),
      ...(given?.respond === 'tool_approval' && { action: given.answer.action }),
      ...(given?.respond === 'inquiry' && { answer: given.answer.answer }),
      by,
    };
    for (const subscription of asked) {
      const message = { sub_id: subscription.id, conversation, data: { ...data } };
      subscription.announce(conversation, { type: 'event', ...message }, seq);
    }
  }

  #readAnswer(open: OpenQuestion, given: RequestOf<'respond'>, who: Answerer): Result<Given> {
    if (given.respond === 'inquiry') {
      const { answer } = given;
      const several = 'several' in open.request && open.request.several;
      if (several !== (typeof answer !== 'string')) {
        return failed('plugin', several ? 'answer: must be a list of strings.' : 'answer: must be a string.');
      }
      return succeeded({ respond: 'inquiry', answer: { answer, ...who } });
    }
    const { action, arguments: args, reason } = given;
    if (action === 'modify') {
      const problem = this.#whyUnfit(open, args);
      if (problem !== undefined) return failed('plugin', problem);
    }
    const answer: ApprovalAnswer = {
      action,
      ...who,
      ...(action === 'modify' && args !== undefined && { arguments: args }),
      ...(reason !== undefined && { reason }),
    };
    return succeeded({ respond: 'tool_approval', answer });
  }

  #whyUnfit({ request }: OpenQuestion, args: Readonly<Record<string, unknown>> | undefined): string | undefined {
    if (args === undefined) return 'arguments: “modify” needs them.';
    if (isDeeperThan(args, MOST_DEPTH)) return `arguments: ${TOO_DEEP}.`;
    const name = typeof request.call === 'object' ? request.call.name : '';
    const parsed = this.#deps.earshot.tools.get(name)?.parse(args);
    return parsed === undefined || parsed.ok ? undefined : `arguments: ${parsed.failure.message}`;
  }

  /** The time-out counts only for questions that plugins must answer, and only while no view shows them. */
  #scheduleCheck(open: OpenQuestion): void {
    const { clock, settings } = this.#deps;
    const limit = settings()['plugins.respondTimeout'] * 1000;
    open.timer?.dispose();
    open.timer = clock.after(Math.min(CHECK_EVERY, Math.max(1, open.since + limit - clock.now())), () => {
      void this.#check(open).catch((error: unknown) => this.#deps.report(error));
    });
  }

  async #check(open: OpenQuestion): Promise<void> {
    const { clock, settings, views } = this.#deps;
    const isOpen = () => this.#open.get(questionKey(open.conversation, open.id)) === open;
    const concernsPlugins = open.offered || this.#deps.isQueried(open.conversation);
    const waitsForPerson = !concernsPlugins || (await views.isShown(open.conversation));
    if (!isOpen()) return;
    if (waitsForPerson) open.since = clock.now();
    const seconds = settings()['plugins.respondTimeout'];
    if (clock.now() - open.since < seconds * 1000) {
      this.#scheduleCheck(open);
      return;
    }
    const given = this.#fallback(open, seconds);
    this.#close(open, given);
    open.settle(given);
  }

  #fallback(open: OpenQuestion, seconds: number): Given {
    if (open.respond === 'inquiry') {
      const several = 'several' in open.request && open.request.several;
      return { respond: 'inquiry', answer: { answer: several ? [] : '', by: TIMED_OUT } };
    }
    const action = this.#deps.settings()['plugins.respondFallback'];
    const reason = `Nobody answered within ${seconds} s.`;
    return { respond: 'tool_approval', answer: { action, reason, by: TIMED_OUT } };
  }
}

function questionKey(conversation: string, id: string): string {
  return `${conversation} ${id}`;
}
