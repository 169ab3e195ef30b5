// Starts subagents, follows them to their end, counts their usage for the parent conversation, and stops them with it.
import { type Disposable, toDisposable } from '../base/disposable.ts';
import { FailureError, failed, type Result, succeeded } from '../base/errors.ts';
import { defined } from '../base/json/defined.ts';
import { EVENT_VERSION, type EventDraft, type EventOf, type LogEvent } from '../protocol/event.ts';
import { type ConversationChange, type LiveConversation } from './conversation/liveConversation.ts';
import { withChosen } from './conversation/choices.ts';
import { shortTitle } from './conversation/projections/summary.ts';
import { type CountedUsage, missingUsage } from './conversation/projections/usage.ts';
import { type Earshot } from './earshot.ts';
import { type Ports } from './ports/ports.ts';
import {
  type AgentRuns,
  type PreparedSubagent,
  type SubagentRequest,
  type SubagentStarter,
} from './ports/processes.ts';
import { SubagentProcess, type SubagentProcessDeps } from './subagentProcess.ts';
import { type Handles } from './tools/handles.ts';
import { PARENT_STOPPED, TURN_ENDED } from './tools/handleTexts.ts';
import { mayStart } from './tools/subagentLimits.ts';

/** The limit for all subagents of one conversation of the user, including subagents of subagents. */
const MOST_SUBAGENTS = 4;
const MOST_DEPTH = 10;
const NOT_BEGUN = 'the editor was closed before it began';

export interface SubagentsDeps extends Pick<Ports, 'clock' | 'ids' | 'logger' | 'store' | 'settings' | 'models'> {
  model(): { readonly id: string };
  /** What exists only after the subagents do: Earshot and its handles need them. */
  host(): SubagentsHost;
}

export interface SubagentsHost {
  readonly earshot: Earshot;
  readonly handles: Handles;
  /**
   * Keeps a conversation live that no chat shows. `opened`: it was opened for this. Absent: conversations always stay
   * live.
   */
  hold?(conversation: string, opened: boolean): Disposable;
}

/** Earshot calls `changed` and `liveChanged` with every change of its conversations. */
export class Subagents implements SubagentStarter, AgentRuns {
  readonly #deps: SubagentsDeps;
  /** The subagents that this window follows, by conversation. */
  readonly #processes = new Map<string, SubagentProcess>();
  /** The parents of subagents that have not ended, by conversation, even while nobody follows the subagent. */
  readonly #parents = new Map<string, string>();
  /** Requests that run, or that the log of their root does not count yet. */
  readonly #underWay = new Set<{ readonly root: string; readonly tokens: number }>();

  constructor(deps: SubagentsDeps) {
    this.#deps = deps;
  }

  get #host(): SubagentsHost {
    return this.#deps.host();
  }

  usageFor(conversation: string): CountedUsage | undefined {
    const root = this.#rootOf(conversation);
    return root === conversation ? undefined : this.#get(root)?.log.state.usage;
  }

  tokensUnderWay(conversation: string): number {
    const root = this.#rootOf(conversation);
    return [...this.#underWay].reduce((sum, one) => sum + (one.root === root ? one.tokens : 0), 0);
  }

  begin(conversation: string, tokens: number): Disposable {
    const request = { root: this.#rootOf(conversation), tokens };
    this.#underWay.add(request);
    return toDisposable(() => this.#underWay.delete(request));
  }

  whyNot({ parent, tools, model }: SubagentRequest): string | undefined {
    const live = this.#get(parent);
    if (live === undefined) return 'Subagents cannot be started here.';
    const { subagent } = live.log.state.summary;
    if (!mayStart(subagent?.depth ?? 0, this.#deps)) {
      return 'No subagent was started: you may not start any (setting earshot.agents.depth).';
    }
    if (this.#countFor(this.#rootOf(parent)) >= MOST_SUBAGENTS) {
      return `No subagent was started: ${MOST_SUBAGENTS} run already, which is the most. Wait for one of them, or abort one.`;
    }
    const known = this.#toolsOf(live);
    const unknown = tools?.find((name) => !known.includes(name));
    if (unknown !== undefined) return `tools: you have no tool ${unknown}. You have: ${known.join(', ')}.`;
    return model === undefined ? undefined : this.#whyNoModel(model);
  }

  async prepare(request: SubagentRequest): Promise<Result<PreparedSubagent>> {
    const problem = this.whyNot(request);
    if (problem !== undefined) return failed('refused', problem);
    const { earshot } = this.#host;
    const conversation = this.#deps.ids.ulid();
    const startedAt = this.#now();
    const { parent, task } = request;
    const opening = this.#opening(request);
    // Counted from now on, so that parallel calls cannot start too many.
    const hold = this.#hold(conversation, parent, true);
    const process = this.#follow({ conversation, parent, startedAt, task, events: opening }, hold);
    const created = await this.#deps.store.create(conversation, opening);
    const opened = created.ok ? await earshot.open(conversation) : created;
    if (!opened.ok) {
      process.dispose();
      return opened;
    }
    return succeeded({
      process,
      begin: () => this.#begin(process, task),
      dispose: () => {
        process.dispose();
        void earshot.close(conversation).catch((error: unknown) => this.#report(error));
      },
    });
  }

  /** Reattaches after a restart, or after another window owned the parent conversation. */
  async reattach({ conversation, parent, startedAt }: Parameters<AgentRuns['reattach']>[0]) {
    const host = this.#host;
    const end = await this.#deps.store.end(conversation);
    if (!end.ok) return undefined;
    const wasOpen = host.earshot.get(conversation) !== undefined;
    const opened = await host.earshot.open(conversation);
    if (!opened.ok) return undefined;
    const hold = this.#hold(conversation, parent, !wasOpen);
    const meanwhile: LogEvent[] = [];
    const listening = opened.value.log.onDidAppend(({ event }) => meanwhile.push(event));
    const read = await this.#deps.store.read(conversation);
    listening.dispose();
    if (!read.ok) {
      hold?.dispose();
      return undefined;
    }
    const events = [...read.value.events, ...meanwhile];
    const process = this.#follow({ conversation, parent, startedAt, events }, hold);
    if (opened.value.log.state.turn.turn === '') process.fail(NOT_BEGUN);
    await this.#countMissing(opened.value, parent);
    // The previous owner of the parent may still own the subagent; it belongs to the window that owns the parent.
    if (!opened.value.owned)
      void host.earshot.continueHere(conversation).catch((error: unknown) => this.#report(error));
    process.update(host.earshot.get(conversation));
    return process;
  }

  changed({ conversation, folded }: ConversationChange): void {
    const live = this.#get(conversation);
    const process = this.#processes.get(conversation);
    if (folded !== undefined) {
      const { event } = folded;
      process?.fold(event);
      if (event.type === 'model_call' && live !== undefined) this.#count(live, event);
      if (event.type === 'turn_ended' && event.outcome === 'stopped' && live?.owned === true)
        this.#stopFor(conversation);
      if (event.type === 'choice_made') this.#passOn(conversation, event);
    }
    if (live !== undefined) process?.update(live);
  }

  liveChanged(conversation: string): void {
    if (this.#get(conversation) !== undefined) return;
    this.#processes.get(conversation)?.update(undefined);
    this.#parents.delete(conversation);
    // The conversation was closed here, so its subagents are stopped. One that another window took over is still live
    // here.
    for (const [child, parent] of this.#parents) {
      if (parent !== conversation) continue;
      this.#parents.delete(child);
      void this.#host.earshot.stop(child).catch((error: unknown) => this.#report(error));
    }
  }

  #opening({ parent, task, name, tools, model }: SubagentRequest): LogEvent[] {
    const { subagent } = this.#get(parent)?.log.state.summary ?? {};
    // A subagent of a subagent has only tools that its parent also has.
    const given = tools ?? subagent?.tools;
    const origin = {
      parent,
      name,
      depth: (subagent?.depth ?? 0) + 1,
      ...(given !== undefined && { tools: [...given] }),
      ...defined({ model }),
    };
    const { model: ofParent, ...chosen } = this.#get(parent)?.log.state.choice.current ?? {};
    const choice = { ...chosen, ...(model === undefined && ofParent !== undefined && { model: ofParent }) };
    const drafts: EventDraft[] = [
      { type: 'conversation_started', key: this.#deps.ids.key(), subagent: origin },
      ...(Object.keys(choice).length === 0 ? [] : [{ type: 'choice_made' as const, ...choice }]),
      { type: 'title_set', title: shortTitle(`${name}: ${task}`) },
    ];
    return drafts.map((draft, index) => ({
      v: EVENT_VERSION,
      seq: index + 1,
      event_id: this.#deps.ids.ulid(),
      timestamp: this.#now(),
      ...draft,
    }));
  }

  async #begin(process: SubagentProcess, task: string): Promise<void> {
    const sent = await this.#host.earshot.send(process.agent.conversation, task);
    if (!sent.ok) process.fail(sent.failure.message);
  }

  #hold(conversation: string, parent: string, opened: boolean): Disposable | undefined {
    this.#parents.set(conversation, parent);
    return this.#host.hold?.(conversation, opened);
  }

  #follow(
    one: Pick<SubagentProcessDeps, 'conversation' | 'parent' | 'startedAt' | 'task' | 'events'>,
    hold: Disposable | undefined,
  ): SubagentProcess {
    const { conversation } = one;
    const process = new SubagentProcess({
      ...one,
      now: () => this.#deps.clock.now(),
      stopTurn: () => this.#stopTurn(conversation),
      onEnd: () => {
        hold?.dispose();
        this.#parents.delete(conversation);
        // Nobody would be notified of commands that it left in the background.
        void this.#host.handles.stopAll(conversation, TURN_ENDED).catch((error: unknown) => this.#report(error));
      },
      onDispose: () => {
        hold?.dispose();
        if (this.#processes.get(conversation) === process) this.#processes.delete(conversation);
      },
      report: (error) => this.#report(error),
    });
    this.#processes.set(conversation, process);
    return process;
  }

  async #stopTurn(conversation: string): Promise<void> {
    const { earshot } = this.#host;
    // Only the owner can stop the turn.
    if (this.#get(conversation)?.owned === false) await earshot.continueHere(conversation);
    await earshot.stop(conversation);
  }

  /** Mode and approvals hold for the subagents of a conversation, too. */
  #passOn(parent: string, { mode, approvals }: EventOf<'choice_made'>): void {
    const chosen = withChosen({}, { mode, approvals });
    if (Object.keys(chosen).length === 0) return;
    for (const [child, of] of this.#parents) {
      if (of !== parent || this.#get(child)?.owned !== true) continue;
      void this.#host.earshot.choices.choose(child, chosen).catch((error: unknown) => this.#report(error));
    }
  }

  #stopFor(parent: string): void {
    for (const process of this.#processes.values()) {
      if (process.parent === parent && !process.hasEnded) process.stop(PARENT_STOPPED);
    }
  }

  /**
   * Records a subagent's usage in the log of its parent, too, up to the root, so that limits and the meter include it.
   */
  #count({ log, owned }: LiveConversation, { model, usage, outcome }: EventOf<'model_call'>): void {
    const { subagent } = log.state.summary;
    const parent = subagent === undefined ? undefined : this.#get(subagent.parent);
    if (usage === undefined || !owned || parent?.owned !== true) return;
    const counted = { model, usage, outcome, purpose: 'subagent', subagent: log.id } as const;
    // A parent that is a subagent itself records it for its own parent once it is on disk.
    const isNested = parent.log.state.summary.subagent !== undefined;
    const passed = isNested ? this.begin(log.id, usage.input_tokens + usage.output_tokens) : undefined;
    const appended = parent.log.append({ type: 'model_call', ...counted });
    void appended.finally(() => passed?.dispose()).catch((error: unknown) => this.#report(error));
  }

  /** Records the usage of the time when the parent's log could not be written. */
  async #countMissing({ log }: LiveConversation, parent: string): Promise<void> {
    const to = this.#get(parent)?.log;
    if (to?.owned !== true) return;
    const known = to.state.usage.usedBySubagent(log.id);
    for (const [model, used] of log.state.usage.byModel) {
      const usage = missingUsage(used, known.get(model));
      if (usage.input_tokens <= 0 && usage.output_tokens <= 0) continue;
      await to.append({
        type: 'model_call',
        model,
        usage,
        outcome: 'succeeded',
        purpose: 'subagent',
        subagent: log.id,
      });
    }
  }

  #whyNoModel(name: string): string | undefined {
    const names = [this.#deps.model().id, ...this.#deps.models.names];
    if (names.includes(name)) return undefined;
    return `model: ${name} is not configured. There are: ${[...new Set(names)].join(', ')}.`;
  }

  #toolsOf({ log }: LiveConversation): readonly string[] {
    const given = log.state.summary.subagent?.tools;
    const all = this.#host.earshot.tools.names;
    return given === undefined ? all : all.filter((name) => given.includes(name));
  }

  #countFor(root: string): number {
    return [...this.#processes.values()].filter((one) => !one.hasEnded && this.#rootOf(one.parent) === root).length;
  }

  /** The user's conversation for which it works, as far as the parents are live. */
  #rootOf(conversation: string): string {
    let root = conversation;
    // A damaged log may name any parent.
    for (let depth = 0; depth < MOST_DEPTH; depth++) {
      const parent = this.#get(root)?.log.state.summary.subagent?.parent;
      if (parent === undefined || this.#get(parent) === undefined) break;
      root = parent;
    }
    return root;
  }

  #get(conversation: string): LiveConversation | undefined {
    return this.#host.earshot.get(conversation);
  }

  #now(): string {
    return new Date(this.#deps.clock.now()).toISOString();
  }

  #report(error: unknown): void {
    // A log that cannot be written is reported elsewhere; `reattach` records the missing usage.
    if (!(error instanceof FailureError)) this.#deps.logger.error('a subagent failed', error);
  }
}
