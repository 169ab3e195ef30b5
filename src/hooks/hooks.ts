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
  /** Asks the user whether a hook of the workspace may run from now on. */
  approve(approval: HookApproval): Promise<boolean>;
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

export function createHooks(deps: HooksDeps): Hooks {
  return new HookRunner(deps);
}

class HookRunner implements Hooks {
  readonly #deps: HooksDeps;
  readonly #approvals: CommandApprovals;
  readonly #notifying = new Slots(1);
  #waiting = 0;
  /** Approvals that the user was asked for in this window, so that each question is asked once. */
  readonly #asked = new Set<string>();
  /** Problems that the user was notified of. */
  readonly #reported = new Set<string>();

  constructor(deps: HooksDeps) {
    this.#deps = deps;
    this.#approvals = new CommandApprovals(deps.approved);
  }

  has(event: HookEvent, tool?: string): boolean {
    return this.#of(event, tool).length > 0;
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
        cwd: folder,
        permission_mode: this.#deps.mode() === 'plan' ? 'plan' : 'default',
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
    if (!this.#asked.has(key)) {
      this.#asked.add(key);
      void this.#ask(key, { event, command, files, unpinned, workspace }).catch((error: unknown) =>
        logger.error('a hook could not be approved', error),
      );
    }
    return undefined;
  }

  async #ask(key: string, approval: HookApproval): Promise<void> {
    if (await this.#deps.approve(approval)) await this.#approvals.add(key, approval);
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

/** Also accepts `.*`, as in the expressions of Claude Code. */
function fits(matcher: string | undefined, tool: string | undefined): boolean {
  if (matcher === undefined || matcher === '' || tool === undefined) return true;
  return matcher.split('|').some((name) => compileName(name.trim().replaceAll('.*', '*')).matches(tool));
}
