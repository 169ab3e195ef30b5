// The user's hooks: finds the hooks of an event, asks for approval of those that a workspace configures, runs them and
// merges their answers.
import { randomUUID } from 'node:crypto';
import { type Clock } from '../base/clock.ts';
import { describeError, describeFailure, type Failure } from '../base/errors.ts';
import { compileName } from '../base/patterns/namePattern.ts';
import { printPath } from '../base/printPath.ts';
import { Slots } from '../base/slots.ts';
import { type Hooks, type HookMoment, type HookVerdict } from '../core/ports/hooks.ts';
import { type Logger } from '../core/ports/ports.ts';
import { type Unpinned } from '../node/files/codePins.ts';
import { CommandApprovals, type StoredApprovals } from '../node/files/commandApprovals.ts';
import {
  approvalKey,
  type CommandFile,
  hashCommand,
  inspectCommand,
  type InspectedCommand,
} from '../node/files/fingerprint.ts';
import { type Hook, type HookEvent } from '../protocol/outside/hooks.ts';
import { type HookAnswer, readHookAnswer } from './hookAnswer.ts';
import { runHookProcess } from './hookProcess.ts';

export interface ConfiguredHook {
  readonly event: HookEvent;
  readonly hook: Hook;
  /** Whether the workspace configures it; such a hook runs only after approval. */
  readonly workspace: boolean;
}

export interface HookApproval {
  readonly event: HookEvent;
  readonly command: readonly string[];
  readonly files: readonly CommandFile[];
  /** Code that may run besides these files. If there is any, the approval holds for this window. */
  readonly unpinned: readonly Unpinned[];
  /** False: the user configured it, but it runs code of the workspace. */
  readonly workspace: boolean;
}

export interface HooksDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  configured(): readonly ConfiguredHook[];
  /** The folder that hooks run in. Undefined: no folder is open, and no hook runs. */
  folder(): string | undefined;
  /** The folders of the workspace. */
  roots(): readonly string[];
  isTrusted(): boolean;
  mode(): string;
  readonly approved: StoredApprovals;
  /** Asks the user whether a hook of the workspace may run from now on. Aborted if that is not of interest any more. */
  approve(approval: HookApproval, signal: AbortSignal): Promise<boolean>;
  /** Shows the user a hook's message, or why a hook had no effect. */
  notice(text: string): void;
}

/** Claude Code's names of the events, so that hooks written for it work. */
const NAMES: Readonly<Record<HookEvent, string>> = {
  user_prompt: 'UserPromptSubmit',
  before_tool: 'PreToolUse',
  after_tool: 'PostToolUse',
  turn_end: 'Stop',
  notification: 'Notification',
};
/** Notifications come in bursts: if this many wait for their hooks, further ones get no hooks. */
const MOST_WAITING = 20;

/** The hooks, and a check of all of them, so that the user is asked before the first one should run. */
export interface CheckedHooks extends Hooks {
  /** Call it at the start, and when the configuration or the trust in the workspace has changed. */
  check(): Promise<void>;
}

export function createHooks(deps: HooksDeps): CheckedHooks {
  return new HookRunner(deps);
}

class HookRunner implements CheckedHooks {
  readonly #deps: HooksDeps;
  readonly #approvals: CommandApprovals;
  readonly #notifying = new Slots(1);
  #waiting = 0;
  /** Open questions by hook. */
  readonly #asking = new Map<string, { readonly key: string; readonly ended: AbortController }>();
  /** What the user refused in this window, so that it is not asked for again. */
  readonly #refused = new Set<string>();
  /** Problems that the user was notified of. */
  readonly #reported = new Set<string>();

  constructor(deps: HooksDeps) {
    this.#deps = deps;
    this.#approvals = new CommandApprovals(deps.approved);
  }

  has(event: HookEvent, tool?: string): boolean {
    return this.#of(event, tool).length > 0;
  }

  async check(): Promise<void> {
    const configured = this.#deps.isTrusted() && this.#deps.folder() !== undefined ? this.#deps.configured() : [];
    const hooks = new Set(configured.map(({ event, hook }) => hookId(event, hook.command)));
    for (const [hook, { ended }] of this.#asking) if (!hooks.has(hook)) ended.abort();
    await Promise.all(configured.map((hook) => this.#approved(hook)));
  }

  async run(moment: HookMoment, signal: AbortSignal): Promise<HookVerdict> {
    const hooks = this.#of(moment.event, moment.tool);
    if (moment.event !== 'notification') return this.#runAll(hooks, moment, signal);
    if (this.#waiting >= MOST_WAITING) return { added: [] };
    this.#waiting += 1;
    try {
      return (await this.#notifying.run(() => this.#runAll(hooks, moment, signal), signal)) ?? { added: [] };
    } finally {
      this.#waiting -= 1;
    }
  }

  #of(event: HookEvent, tool: string | undefined): readonly ConfiguredHook[] {
    if (!this.#deps.isTrusted() || this.#deps.folder() === undefined) return [];
    return this.#deps.configured().filter((one) => one.event === event && fits(one.hook.matcher, tool));
  }

  async #runAll(hooks: readonly ConfiguredHook[], moment: HookMoment, signal: AbortSignal): Promise<HookVerdict> {
    const answers = await Promise.all(hooks.map((hook) => this.#runOne(hook, moment, signal)));
    const refused = answers.flatMap((answer) => answer?.refused ?? []);
    const ask = answers.flatMap((answer) => answer?.ask ?? []);
    return {
      ...(refused.length > 0 && { refused: refused.join('\n') }),
      ...(ask.length > 0 && { ask: ask.join('\n') }),
      added: answers.flatMap((answer) => answer?.added ?? []),
    };
  }

  async #runOne(configured: ConfiguredHook, moment: HookMoment, signal: AbortSignal): Promise<HookAnswer | undefined> {
    const { event, hook } = configured;
    const command = hook.command.join(' ');
    try {
      const found = await this.#approved(configured);
      if (found === undefined) return undefined;
      const { program, args, folder } = found;
      const input = JSON.stringify({
        session_id: moment.conversation,
        transcript_path: '',
        // The process itself runs in the first folder: there its command was found and approved.
        cwd: this.#deps.roots().find((root) => root === moment.folder) ?? folder,
        permission_mode: (moment.mode ?? this.#deps.mode()) === 'plan' ? 'plan' : 'default',
        hook_event_name: NAMES[event],
        ...moment.input,
      });
      const { clock } = this.#deps;
      const start = { program, args, folder, input, seconds: hook.timeout, clock, mark: randomUUID(), signal };
      const ended = await runHookProcess(start);
      if (signal.aborted) return undefined;
      if (!ended.ok) {
        this.#fail(command, describeFailure(ended.failure));
        return undefined;
      }
      const answer = readHookAnswer(event, command, ended.value);
      if (answer.problem !== undefined) this.#fail(command, answer.problem);
      if (answer.message !== undefined) this.#deps.notice(`The hook ${printPath(command)} says: ${answer.message}`);
      return answer;
    } catch (error) {
      this.#deps.logger.error('a hook failed unexpectedly', error);
      this.#fail(command, describeError(error));
      return undefined;
    }
  }

  /**
   * Inspects the hook's command before every run, and hashes its files if it is the workspace's. Undefined: the hook
   * must not run now. If it was never approved or has changed since, the user is asked; this call does not wait for the
   * answer.
   */
  async #approved({ event, hook, workspace }: ConfiguredHook): Promise<InspectedCommand | undefined> {
    const { folder, roots, logger } = this.#deps;
    const { command } = hook;
    const inspected = await inspectCommand(command, { folder: folder() ?? '', roots: roots() });
    if (inspected.ok && !workspace && !inspected.value.isInWorkspace) return inspected.value;
    const found = inspected.ok ? await hashCommand(inspected.value) : inspected;
    if (!found.ok) {
      this.#fail(command.join(' '), describeFailure(found.failure));
      return undefined;
    }
    const { files, unpinned } = found.value;
    const key = `hook:${approvalKey(found.value, event)}`;
    if (await this.#approvals.has(key, found.value)) return found.value;
    const approval = { event, command, files, unpinned, workspace };
    void this.#ask(key, approval).catch((error: unknown) => logger.error('a hook could not be approved', error));
    return undefined;
  }

  /** A changed file replaces the open question. */
  async #ask(key: string, approval: HookApproval): Promise<void> {
    const hook = hookId(approval.event, approval.command);
    if (this.#refused.has(key) || this.#asking.get(hook)?.key === key) return;
    this.#asking.get(hook)?.ended.abort();
    const asking = { key, ended: new AbortController() };
    this.#asking.set(hook, asking);
    const isApproved = await this.#deps.approve(approval, asking.ended.signal);
    if (this.#asking.get(hook) === asking) this.#asking.delete(hook);
    if (isApproved) await this.#approvals.add(key, approval);
    else if (!asking.ended.signal.aborted) this.#refused.add(key);
  }

  /** Shows the user each problem once, at most 100 of them; the output channel gets all. */
  #fail(command: string, problem: Failure['message']): void {
    const text = `The hook ${printPath(command)} had no effect: ${problem}`;
    this.#deps.logger.warn(text);
    const key = `${command}\n${problem}`;
    if (this.#reported.has(key) || this.#reported.size >= 100) return;
    this.#reported.add(key);
    this.#deps.notice(text);
  }
}

function hookId(event: HookEvent, command: readonly string[]): string {
  return JSON.stringify([event, command]);
}

/** Also accepts `.*`, as in the expressions of Claude Code. */
function fits(matcher: string | undefined, tool: string | undefined): boolean {
  if (matcher === undefined || matcher === '' || tool === undefined) return true;
  return matcher.split('|').some((name) => compileName(name.trim().replaceAll('.*', '*')).matches(tool));
}
