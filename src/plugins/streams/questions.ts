// Open approvals and questions, for plugins: offers them to the subscriptions that may answer, and uses the configured
// fallback after a time-out.
import { type Clock } from '../../base/clock.ts';
import { type Disposable } from '../../base/disposable.ts';
import { failed, type Result, succeeded } from '../../base/errors.ts';
import {
  type OpenRequest,
  type RequestAnswer,
  type RequestChange,
  requestKey,
  type Requests,
} from '../../core/client/requests.ts';
import { needsPerson } from '../../core/consent/textOrigins.ts';
import { type Earshot } from '../../core/earshot.ts';
import { TIMED_OUT } from '../../core/ports/ports.ts';
import { type Views } from '../../core/ports/storage.ts';
import { writeApprovalDetails } from '../../protocol/approvalDetails.ts';
import { type Settings } from '../../protocol/settings.ts';
import { type HostMessageOf, type RequestOf, type ResolvedData } from '../../protocol/plugin.ts';
import { type Subscription } from './subscription.ts';

/** Longest interval between checks whether a view shows the question. */
const CHECK_EVERY = 5000;

export interface QuestionsDeps {
  readonly requests: Requests;
  readonly earshot: Earshot;
  readonly clock: Clock;
  readonly views: Pick<Views, 'isShown'>;
  settings(): Pick<Settings, 'plugins.respondTimeout' | 'plugins.respondFallback' | 'approvals.outsideText'>;
  /** The subscriptions of a conversation that may answer. */
  answering(conversation: string): readonly Subscription[];
  /** Whether a plugin's query started the running turn: then there may be no other front end to answer. */
  isQueried(conversation: string): boolean;
  report(error: unknown): void;
}

/** What plugins know of an open request. */
interface Offer {
  open: OpenRequest;
  /** The event of the log that asks. */
  readonly logged: { readonly seq: number; readonly type: string };
  /** The subscriptions that it was offered to and that still exist. */
  readonly asked: Set<Subscription>;
  /** Whether any plugin was asked, even if it is gone. */
  offered: boolean;
  timer?: Disposable;
  /** When a view last showed it to the user, or else when it was opened. */
  since: number;
}

export class Questions implements Disposable {
  readonly #deps: QuestionsDeps;
  readonly #offers = new Map<string, Offer>();
  readonly #listening: Disposable;

  constructor(deps: QuestionsDeps) {
    this.#deps = deps;
    this.#listening = deps.requests.onDidChange((change) => this.#changed(change));
    for (const open of deps.requests.all) this.#opened(open);
  }

  /** Offers the open questions of a conversation to a subscription that may answer. */
  offerTo(subscription: Subscription, conversation: string): void {
    if (!subscription.asks) return;
    for (const offer of this.#offers.values()) {
      if (offer.open.conversation === conversation) this.#offer(offer, subscription);
    }
  }

  /** The conversations with open questions. */
  get conversations(): readonly string[] {
    return [...new Set(this.#deps.requests.all.map(({ conversation }) => conversation))];
  }

  /** Removes a subscription, which then gets no `resolved` events. */
  leave(subscription: Subscription): void {
    for (const { asked } of this.#offers.values()) asked.delete(subscription);
  }

  /** The open request that a plugin answers. */
  find(subscriptions: readonly Subscription[], given: RequestOf<'respond'>): Result<OpenRequest> {
    const { requests } = this.#deps;
    const isApproval = given.respond === 'tool_approval';
    const type = isApproval ? 'approval' : 'question';
    const id = isApproval ? given.tool_call_id : given.inquiry_id;
    const named = isApproval ? given.conversation : undefined;
    const isMeant = ({ conversation, id: one }: Pick<OpenRequest, 'conversation' | 'id'>) =>
      one === id && subscriptions.some((sub) => sub.covers(conversation)) && (named ?? conversation) === conversation;
    const [open, other] = requests.all.filter((one) => one.type === type && isMeant(one));
    // Calls of several conversations may have the same id: the answer must not go to the wrong one.
    if (other !== undefined) {
      return failed('plugin', `conversation: missing. Approvals “${id.slice(0, 100)}” are open in several.`);
    }
    if (open !== undefined) return succeeded(open);
    const before = requests.answeredBy(isMeant);
    return failed(
      'plugin',
      before === undefined ? `No ${type} “${id.slice(0, 100)}” is open.` : `It was already answered by ${before}.`,
    );
  }

  dispose(): void {
    this.#listening.dispose();
    for (const { timer } of this.#offers.values()) timer?.dispose();
    this.#offers.clear();
  }

  #changed({ type, open, answer }: RequestChange): void {
    const offer = this.#offers.get(requestKey(open));
    if (type === 'opened') this.#opened(open);
    else if (offer === undefined) return;
    else if (type === 'closed') this.#close(offer, answer);
    else {
      // Sent again, so that nobody approves changes that were not shown.
      offer.open = open;
      for (const subscription of offer.asked) this.#send(offer, subscription);
    }
  }

  #opened(open: OpenRequest): void {
    const logged = this.#loggedEvent(open);
    const offer: Offer = { open, logged, asked: new Set(), offered: false, since: this.#deps.clock.now() };
    this.#offers.set(requestKey(open), offer);
    this.#offerToAll(offer);
    this.#scheduleCheck(offer);
  }

  #offerToAll(offer: Offer): void {
    for (const subscription of this.#deps.answering(offer.open.conversation)) this.#offer(offer, subscription);
  }

  #offer(offer: Offer, subscription: Subscription): void {
    if (offer.asked.has(subscription)) return;
    offer.asked.add(subscription);
    offer.offered = true;
    this.#send(offer, subscription);
  }

  #send({ open, logged }: Offer, subscription: Subscription): void {
    const { conversation, type, request, revision } = open;
    const problem = request.problem === undefined ? {} : { problem: request.problem };
    const shown = type === 'approval' ? writeApprovalDetails({ ...request, revision }) : problem;
    const message: HostMessageOf<'event'> = {
      ...{ type: 'event', sub_id: subscription.id, conversation },
      respond: type === 'approval' ? 'tool_approval' : 'inquiry',
      data: { ...logged, ...shown },
    };
    subscription.announce(conversation, message, logged.seq);
  }

  /** `answer` undefined: it was cancelled, because the turn was stopped or continues in another window. */
  #close(offer: Offer, answer: RequestChange['answer']): void {
    const { open, asked, logged } = offer;
    const { conversation, id } = open;
    offer.timer?.dispose();
    this.#offers.delete(requestKey(open));
    const data: ResolvedData = {
      type: 'resolved',
      ...(open.type === 'approval' ? { tool_call_id: id } : { inquiry_id: id }),
      ...(answer !== undefined && ('action' in answer ? { action: answer.action } : { answer: answer.answer })),
      by: answer?.by ?? 'cancelled',
    };
    for (const subscription of asked) {
      const message = { sub_id: subscription.id, conversation, data: { ...data } };
      subscription.announce(conversation, { type: 'event', ...message }, logged.seq);
    }
  }

  /** The event of the log that asks, without its version; made up if the log does not have it. */
  #loggedEvent({ type, conversation, request }: OpenRequest): Offer['logged'] {
    const turn = this.#deps.earshot.get(conversation)?.log.state.turn;
    if (type === 'approval') {
      const event = turn?.unanswered.find((one) => one.request.id === request.call.id)?.request;
      const { v: _, ...logged } = event ?? { v: 1, seq: 0, type: 'tool_call_request', ...request.call };
      return logged;
    }
    const { id, call, text, options, several, fields } = request;
    const shown = {
      id,
      question: text,
      ...(options && { options }),
      ...(several && { several }),
      ...(fields && { fields }),
    };
    const event = call === undefined ? undefined : turn?.inquiry(call)?.request;
    const { v: _, ...logged } = event ?? { v: 1, seq: 0, type: 'inquiry_request', ...shown };
    return logged;
  }

  /** The time-out counts only for questions that plugins must answer, and only while no view shows them. */
  #scheduleCheck(offer: Offer): void {
    const { clock, settings } = this.#deps;
    const limit = settings()['plugins.respondTimeout'] * 1000;
    offer.timer?.dispose();
    offer.timer = clock.after(Math.min(CHECK_EVERY, Math.max(1, offer.since + limit - clock.now())), () => {
      void this.#check(offer).catch((error: unknown) => this.#deps.report(error));
    });
  }

  async #check(offer: Offer): Promise<void> {
    const { clock, settings, views, requests } = this.#deps;
    const { conversation } = offer.open;
    // The user may have allowed a plugin to answer meanwhile.
    this.#offerToAll(offer);
    const concernsPlugins = offer.offered || this.#deps.isQueried(conversation);
    const waitsForPerson = !concernsPlugins || (await views.isShown(conversation));
    if (this.#offers.get(requestKey(offer.open)) !== offer) return;
    if (waitsForPerson) offer.since = clock.now();
    const seconds = settings()['plugins.respondTimeout'];
    if (clock.now() - offer.since < seconds * 1000) this.#scheduleCheck(offer);
    else requests.answer(this.#fallback(offer.open, seconds));
  }

  #fallback(open: OpenRequest, seconds: number): RequestAnswer {
    const { id, conversation } = open;
    if (open.type === 'question') {
      return { type: 'question', id, answer: { answer: open.request.several === true ? [] : '', by: TIMED_OUT } };
    }
    const settings = this.#deps.settings();
    const isBarred = needsPerson(open.request.origins ?? [], settings);
    const action = isBarred ? 'reject' : settings['plugins.respondFallback'];
    const answer = { action, reason: `Nobody answered within ${seconds} s.`, by: TIMED_OUT };
    return { type: 'approval', conversation, id, answer };
  }
}
