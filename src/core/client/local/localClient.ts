// The clients of the process that runs the turns, each for one caller. They share what they follow. Also has the verbs that
// answer open requests.
import { type Disposable, DisposableStore, toDisposable } from '../../../base/disposable.ts';
import { Emitter, type Event } from '../../../base/emitter.ts';
import { failed, type Result, succeeded } from '../../../base/errors.ts';
import { isDeeperThan, MOST_DEPTH, TOO_DEEP } from '../../../base/json/outsideJson.ts';
import { type Verb, type VerbParams, type VerbResult } from '../../../protocol/client/verbs.ts';
import { type LiveConversation } from '../../conversation/liveConversation.ts';
import { viewHandles } from '../../frontend/handleViews.ts';
import { type ApprovalRequest, type PartialAnswer } from '../../ports/ports.ts';
import {
  type Client,
  type FollowChange,
  type FollowedConversation,
  type FollowedStatus,
  type FollowMessage,
  isProgress,
  type Progress,
  type TurnEnd,
} from '../client.ts';
import { FollowedCommands } from '../followedCommands.ts';
import { createConversationVerbs } from './conversationVerbs.ts';
import { createDueVerbs } from './dueVerbs.ts';
import { createFreshnessVerbs } from './freshnessVerbs.ts';
import { type Caller, type LocalPorts, type LocalVerbs } from './localPorts.ts';
import { createNotificationVerbs } from './notificationVerbs.ts';
import { Notifier } from './notifier.ts';
import { holdOpen } from './owning.ts';
import { type RequestsClient } from '../requests.ts';
import { StartedTurns } from './startedTurns.ts';
import { createRuleVerbs } from './ruleVerbs.ts';
import { createTurnVerbs } from './turnVerbs.ts';
import { createWindowVerbs } from './windowVerbs.ts';
import { Unfinished } from '../unfinished.ts';

export class LocalClients implements Disposable {
  readonly ports: LocalPorts;
  readonly turns: StartedTurns;
  readonly notificationVerbs: ReturnType<typeof createNotificationVerbs>;
  readonly #held = new DisposableStore();
  readonly #unfinished = new Map<string, Unfinished>();
  readonly #notifiers = new Map<string | undefined, { readonly notifier: Notifier; users: number }>();
  readonly #onDidProgress: Emitter<Progress>;

  constructor(ports: LocalPorts) {
    this.ports = ports;
    this.turns = this.#held.add(new StartedTurns(ports));
    this.notificationVerbs = createNotificationVerbs(ports);
    const report = (error: unknown) => ports.logger.error('a client failed', error);
    this.#onDidProgress = this.#held.add(new Emitter(report));
    this.#held.add(ports.frontends.add({ render: (conversation, partial) => this.#render(conversation, partial) }));
    this.#held.add(
      ports.earshot.onDidChange(({ conversation, folded }) => {
        if (folded === undefined) return;
        const { event } = folded;
        this.#unfinished.get(conversation)?.fold(event);
        if (event.type === 'turn_ended') this.#unfinished.delete(conversation);
        if (isProgress(event)) this.#onDidProgress.fire({ conversation, event });
      }),
    );
  }

  get onDidProgress(): Event<Progress> {
    return this.#onDidProgress.event;
  }

  /** What was rendered and is not in the log. */
  unfinishedOf(conversation: string): readonly PartialAnswer[] {
    return this.#unfinished.get(conversation)?.all ?? [];
  }

  as(caller: Caller): Client {
    return new LocalClient(this, caller);
  }

  /** The notifier that all clients with this source share, until the result is disposed of. */
  notifier(source: string | undefined): { readonly notifier: Notifier } & Disposable {
    const shared = this.#notifiers.get(source) ?? { notifier: new Notifier(this.ports, source), users: 0 };
    this.#notifiers.set(source, shared);
    shared.users += 1;
    const release = toDisposable(() => {
      shared.users -= 1;
      if (shared.users > 0) return;
      this.#notifiers.delete(source);
      shared.notifier.dispose();
    });
    return { notifier: shared.notifier, dispose: () => release.dispose() };
  }

  dispose(): void {
    this.#held.dispose();
  }

  #render(conversation: string, partial: PartialAnswer): void {
    const unfinished = this.#unfinished.get(conversation) ?? new Unfinished();
    this.#unfinished.set(conversation, unfinished);
    unfinished.add(partial);
  }
}

class LocalClient implements Client {
  readonly #shared: LocalClients;
  readonly #verbs: LocalVerbs;
  readonly #held = new DisposableStore();
  readonly ended = new Promise<string>(() => undefined);

  constructor(shared: LocalClients, caller: Caller) {
    this.#shared = shared;
    const { ports, turns } = shared;
    const { notifier } = this.#held.add(shared.notifier(caller.source));
    this.#verbs = {
      ...createConversationVerbs(ports),
      ...createDueVerbs(ports),
      ...createTurnVerbs(ports, caller, turns),
      ...createRequestVerbs(ports, caller),
      ...createWindowVerbs(ports),
      ...createFreshnessVerbs(ports),
      ...createRuleVerbs(ports),
      ...shared.notificationVerbs,
      notify: (params) => notifier.notify(params),
    };
  }

  get requests(): RequestsClient {
    return this.#shared.ports.frontends.requests;
  }

  get onDidProgress(): Event<Progress> {
    return this.#shared.onDidProgress;
  }

  call<V extends Verb>(verb: V, params: VerbParams<V>): Promise<Result<VerbResult<V>>> {
    return this.#verbs[verb](params);
  }

  async follow(conversation: string, receive: (message: FollowMessage) => void): Promise<Result<Disposable>> {
    const opened = await holdOpen(this.#shared.ports, conversation);
    if (!opened.ok) return opened;
    const held = this.#held.add(new DisposableStore());
    held.add(opened.value.hold);
    held.add(new LocalFollow(this.#shared, opened.value.live, receive));
    return succeeded({
      dispose: () => {
        this.#held.release(held);
        const { keepAlive, logger } = this.#shared.ports;
        const report = (error: unknown) => logger.error('a conversation could not be closed', error);
        void keepAlive.leave(conversation).catch(report);
      },
    });
  }

  untilEnded(turn: string): Promise<TurnEnd> {
    return this.#shared.turns.untilEnded(turn);
  }

  dispose(): void {
    this.#held.dispose();
  }
}

/** A front end that follows a conversation of this process. */
class LocalFollow implements Disposable {
  readonly #shared: LocalClients;
  readonly #conversation: string;
  readonly #held = new DisposableStore();
  readonly #receive: (message: FollowMessage) => void;
  readonly #commands: FollowedCommands;
  /** As it was when it was live last. */
  #live: LiveConversation;
  #status: FollowedStatus;
  /** Of the last message. */
  #number = 0;

  constructor(shared: LocalClients, live: LiveConversation, receive: (message: FollowMessage) => void) {
    this.#shared = shared;
    this.#live = live;
    const conversation = live.log.id;
    this.#conversation = conversation;
    const { earshot, handles, frontends, clock, logger } = shared.ports;
    this.#receive = receive;
    this.#commands = this.#held.add(
      new FollowedCommands({
        clock,
        list: () => viewHandles(handles.list(conversation), (id) => this.#tokensOf(id)),
        changed: (commands) => this.#change({ type: 'commands', commands }),
        report: (error) => logger.error('background commands could not be listed', error),
      }),
    );
    this.#status = this.#readStatus();
    this.#snapshot();
    this.#held.add(
      earshot.onDidChange(({ conversation: id, folded, reset }) => {
        if (id !== conversation) return;
        if (folded !== undefined) this.#change({ type: 'event', folded });
        this.#checkStatus();
        if (reset === true) this.#snapshot();
      }),
    );
    this.#held.add(
      earshot.onDidChangeLive((id) => {
        if (id !== conversation || earshot.get(id) !== undefined) return;
        this.dispose();
        receive({ type: 'lost', reason: 'The conversation was closed.' });
      }),
    );
    this.#held.add(
      frontends.add({
        render: (id, partial) => {
          if (id === conversation) this.#change({ type: 'partial', partial });
        },
      }),
    );
    this.#held.add(
      frontends.requests.onDidChange((request) => {
        if (request.open.conversation === conversation) this.#change({ type: 'request', request });
      }),
    );
    this.#held.add(
      handles.onDidChange(({ handle }) => {
        if (handle.conversation === conversation && handle.name !== undefined) this.#commands.refresh();
      }),
    );
    this.#commands.refresh(0);
  }

  dispose(): void {
    this.#held.dispose();
  }

  #snapshot(): void {
    this.#receive({ type: 'snapshot', number: ++this.#number, conversation: this.#view() });
  }

  #change(change: FollowChange): void {
    this.#receive({ type: 'delta', number: ++this.#number, change });
  }

  #view(): FollowedConversation {
    const { frontends } = this.#shared.ports;
    return {
      id: this.#conversation,
      state: this.#live.log.state,
      ...this.#status,
      unfinished: this.#shared.unfinishedOf(this.#conversation),
      requests: frontends.requests.all.filter((open) => open.conversation === this.#conversation),
      commands: this.#commands.all,
    };
  }

  #readStatus(): FollowedStatus {
    this.#live = this.#shared.ports.earshot.get(this.#conversation) ?? this.#live;
    const { running, owned, heldBack } = this.#live;
    return { running, owned, heldBack };
  }

  #checkStatus(): void {
    const [before, status] = [this.#status, this.#readStatus()];
    const { running, owned, heldBack } = status;
    if (running === before.running && owned === before.owned && heldBack === before.heldBack) return;
    this.#status = status;
    this.#change({ type: 'status', status });
  }

  /** The log of the parent counts a subagent's tokens. */
  #tokensOf(subagent: string): number | null {
    const used = this.#live.log.state.usage.usedBySubagent(subagent);
    return [...used.values()].reduce((sum, { input, output }) => sum + input + output, 0) || null;
  }
}

/** After a failure the request stays open. */
function createRequestVerbs(
  { earshot, frontends: { requests } }: Pick<LocalPorts, 'earshot' | 'frontends'>,
  { by, process }: Caller,
): Pick<LocalVerbs, 'approve' | 'answer'> {
  const who = () => ({ by, ...process?.() });
  return {
    approve: async ({ conversation, tool_call_id: id, revision, ...given }) => {
      const open = requests.approval(conversation, id);
      const problem = open && whyUnfit(earshot.tools, open.request, given);
      if (problem !== undefined) return failed('plugin', problem);
      const { action, reason, always } = given;
      const args = action === 'modify' ? given.arguments : undefined;
      const answer = { action, ...who(), arguments: args, reason, always };
      const answered = requests.answer({ type: 'approval', conversation, id, revision, answer });
      return answered.ok ? succeeded({}) : answered;
    },
    answer: async ({ inquiry_id: id, answer }) => {
      const open = requests.question(id);
      const several = open?.request.several === true;
      if (open !== undefined && several !== (typeof answer !== 'string'))
        return failed('plugin', several ? 'answer: must be a list of strings.' : 'answer: must be a string.');
      const answered = requests.answer({ type: 'question', id, answer: { answer, ...who() } });
      return answered.ok ? succeeded({}) : answered;
    },
  };
}

function whyUnfit(
  tools: LocalPorts['earshot']['tools'],
  { call, always, alwaysServer }: ApprovalRequest,
  { action, arguments: args, always: chosen }: Omit<VerbParams<'approve'>, 'conversation' | 'tool_call_id'>,
): string | undefined {
  if (chosen !== undefined) {
    if (action !== 'approve') return 'always: only with “approve”.';
    if (always === undefined || (chosen.server === true && alwaysServer === undefined)) {
      return 'always: this is not offered for the call.';
    }
  }
  if (action !== 'modify') return undefined;
  if (args === undefined) return 'arguments: “modify” needs them.';
  if (isDeeperThan(args, MOST_DEPTH)) return `arguments: ${TOO_DEEP}.`;
  const parsed = tools.get(call.name)?.parse(args);
  return parsed === undefined || parsed.ok ? undefined : `arguments: ${parsed.failure.message}`;
}
