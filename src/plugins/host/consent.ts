// Decides whether a plugin may run: by the settings, by earlier approvals, or by asking the user.
import { failed, type Result, succeeded } from '../../base/errors.ts';
import { type PeerProcess } from '../../node/peerProcess.ts';
import { type Program } from '../../protocol/plugin.ts';
import { type ApprovedPrograms } from './approvedPrograms.ts';
import { type Unpinned } from '../../node/files/codePins.ts';
import { CommandApprovals } from '../../node/files/commandApprovals.ts';
import {
  approvalKey,
  type CommandFile,
  type Fingerprint,
  hashCommand,
  inspectCommand,
  placesOf,
} from '../../node/files/fingerprint.ts';

/** A program with its origin. */
export interface ConfiguredProgram extends Program {
  /** True: the user settings have it, not those of the workspace. */
  readonly fromUser?: boolean;
}

/** What the user decides before a program runs for the first time, or after it has changed. */
export interface RunConsent {
  readonly name: string;
  readonly command: readonly string[];
  readonly files: readonly CommandFile[];
  /** Code that may run besides these files. If there is any, the approval holds for this window. */
  readonly unpinned: readonly Unpinned[];
  /** Whether it may answer approvals and questions. */
  readonly approve: boolean;
  /** True: it starts with the window, and the user has not just asked for it. */
  readonly unasked: boolean;
}

export interface AttachConsent {
  readonly name: string;
  readonly version: string;
  /** True: programs of this name may attach already, and the question is only whether this process may answer. */
  readonly known: boolean;
  /** The process that the user may allow to answer approvals and questions; absent: it can only watch. */
  readonly answering?: PeerProcess;
}

/** `answer`: the process may attach and answer until it ends. `watch`: it may only attach. */
export type AttachChoice = 'answer' | 'watch' | 'refuse';

/** An outside agent that wants to be notified of what happens in the workspace. */
export interface ListenConsent {
  readonly agent: string;
  readonly version: string;
}

export interface ConsentDeps {
  readonly approved: ApprovedPrograms;
  /** The configured programs, from the merged settings of user and workspace. */
  programs(): ReadonlyMap<string, ConfiguredProgram>;
  /** Whether programs may be run at all. */
  isTrusted(): boolean;
  /** The folder that plugins run in; undefined: no folder is open. */
  folder(): string | undefined;
  /** The folders of the workspace; a program in them needs approval even if the user settings allow it. */
  roots(): readonly string[];
  confirmRun(consent: RunConsent): Promise<boolean>;
  confirmAttach(consent: AttachConsent): Promise<AttachChoice>;
  /** Resolves once the user has answered. Undefined: the question was withdrawn, and was answered in another way. */
  confirmListen(consent: ListenConsent): Promise<boolean | undefined>;
  /** The outside agents that wait for the user's answer have changed. */
  listenersChanged?(): void;
}

/** A program with the present hashes of its files. */
export interface InspectedProgram {
  readonly program: ConfiguredProgram;
  readonly fingerprint: Fingerprint;
  readonly isApproved: boolean;
}

export class ProgramConsent {
  readonly #deps: ConsentDeps;
  readonly #approvals: CommandApprovals;
  /** Open questions by name and process, so that a program that connects repeatedly causes only one question. */
  readonly #attaching = new Map<string, Promise<AttachChoice>>();
  /** The processes that may answer, by id and start time. Not stored: every file of the user can be changed by commands. */
  readonly #answering = new Set<string>();
  /** Names whose right to answer the user has refused in this window: further processes do not cause questions. */
  readonly #refused = new Set<string>();
  /** Outside agents that the user was asked about in this window. */
  readonly #listening = new Map<string, ListenConsent | 'refused'>();

  constructor(deps: ConsentDeps) {
    this.#deps = deps;
    this.#approvals = new CommandApprovals(deps.approved);
  }

  /** Asks the user if the program has never run or has changed. */
  async allow(name: string, unasked: boolean): Promise<Result<InspectedProgram>> {
    if (!this.#deps.isTrusted()) return untrusted();
    const inspected = await this.inspect(name);
    if (!inspected.ok) return inspected;
    const { program, fingerprint, isApproved } = inspected.value;
    const { command, approve, run } = program;
    if (run === 'deny') return failed('not_approved', `The settings do not allow the program plugin ${name} to run.`);
    if (isApproved) return inspected;
    const { files } = fingerprint;
    const unpinned = unpinnedOf(program, fingerprint);
    if (!(await this.#deps.confirmRun({ name, command, files, unpinned, approve, unasked }))) return notApproved(name);
    await this.#approvals.add(approvalKey(fingerprint, name), { unpinned });
    // A file may have changed while the user was asked.
    const now = await this.inspect(name);
    if (!now.ok) return now;
    if (!now.value.isApproved) {
      return failed(
        'not_approved',
        `The program plugin ${name} was changed meanwhile.`,
        'Check it, then run it again.',
      );
    }
    return now;
  }

  /** Whether the program is approved in its present state. Does not ask the user. */
  async inspect(name: string): Promise<Result<InspectedProgram>> {
    const program = this.#deps.programs().get(name);
    if (program === undefined) {
      return failed('plugin', `There is no program plugin “${name}”.`, 'Add it to earshot.plugins.programs.');
    }
    const folder = this.#deps.folder();
    if (folder === undefined) return failed('plugin', 'Program plugins need an open folder.', 'Open a folder first.');
    const found = await inspectCommand(program.command, { folder, roots: this.#deps.roots() });
    const made = found.ok ? await hashCommand(found.value) : found;
    if (!made.ok) return made;
    const { run } = program;
    const isAllowed = run === 'allow' && !made.value.isInWorkspace;
    const unpinned = unpinnedOf(program, made.value);
    const key = approvalKey(made.value, name);
    const isApproved = isAllowed || (run !== 'deny' && (await this.#approvals.has(key, { unpinned })));
    return succeeded({ program, fingerprint: made.value, isApproved });
  }

  /** The paths of all files that the commands name, whether or not they exist. */
  places(): readonly string[] {
    const folder = this.#deps.folder();
    if (folder === undefined) return [];
    return [...this.#deps.programs().values()].flatMap(({ command }) => placesOf(command, folder));
  }

  /**
   * For a program that attaches to the window's socket. The user is asked once for each name, and for each process that
   * wants to answer approvals. `process`: it can be allowed to answer; undefined: it is not known which process it is.
   */
  async allowAttach(
    name: string,
    version: string,
    process?: PeerProcess,
  ): Promise<Result<{ readonly mayAnswer: boolean }>> {
    const program = this.#deps.programs().get(name);
    if (!this.#deps.isTrusted()) return untrusted();
    if (program?.run === 'deny') return notApproved(name);
    const known = program?.run === 'allow' || (await this.#deps.approved.has(attachKey(name)));
    const wanted = program?.approve === true && !this.#refused.has(name) ? process : undefined;
    const isGranted = wanted !== undefined && this.#answering.has(identityOf(name, wanted));
    if (known && (wanted === undefined || isGranted)) return succeeded({ mayAnswer: isGranted });
    const question = wanted === undefined ? name : identityOf(name, wanted);
    const consent = { name, version, known, ...(wanted && { answering: wanted }) };
    const asked = this.#attaching.get(question) ?? this.#askToAttach(consent);
    this.#attaching.set(question, asked);
    try {
      const choice = await asked;
      return choice === 'refuse' && !known ? notApproved(name) : succeeded({ mayAnswer: choice === 'answer' });
    } finally {
      this.#attaching.delete(question);
    }
  }

  async #askToAttach(consent: AttachConsent): Promise<AttachChoice> {
    const { name, known, answering } = consent;
    const choice = await this.#deps.confirmAttach(consent);
    if (answering !== undefined && choice === 'answer') this.#answering.add(identityOf(name, answering));
    else if (answering !== undefined) this.#refused.add(name);
    if (choice !== 'refuse' && !known) await this.#deps.approved.add(attachKey(name));
    return answering === undefined && choice === 'answer' ? 'watch' : choice;
  }

  /**
   * For an outside agent that wants notifications. The user is asked once for each name, and after a refusal once in
   * each window. Does not wait for the answer: a waiting hook would delay its agent, and the next hook tries again.
   */
  async allowListen({ agent, version }: ListenConsent): Promise<Result<void>> {
    const { approved, isTrusted, programs, confirmListen } = this.#deps;
    if (!isTrusted()) {
      return failed('untrusted', 'Other agents get no notifications of an untrusted workspace.', 'Trust it first.');
    }
    const run = programs().get(agent)?.run;
    const refused = failed(
      'not_approved',
      `The user has not allowed ${agent} to get notifications.`,
      'The user can do that with the command Earshot: Install Notifications for Other Agents.',
    );
    if (run === 'deny') return refused;
    const key = listenKey(agent);
    if (run === 'allow' || (await approved.has(key))) return succeeded(undefined);
    if (this.#listening.get(agent) === 'refused') return refused;
    if (!this.#listening.has(agent)) {
      this.#listening.set(agent, { agent, version });
      this.#deps.listenersChanged?.();
      const decide = async () => {
        const allowed = await confirmListen({ agent, version });
        if (allowed !== undefined) await this.answerListen(agent, allowed);
      };
      void decide().catch(() => this.#listening.delete(agent));
    }
    return failed(
      'not_approved',
      `The user is asked in VS Code whether ${agent} may get notifications.`,
      'Try again later.',
    );
  }

  /** The outside agents that the user was asked about and has not answered. */
  get openListens(): readonly ListenConsent[] {
    return [...this.#listening.values()].filter((one) => one !== 'refused');
  }

  /** The user's answer, however it was given: also by installing notifications for the agent. */
  async answerListen(agent: string, allowed: boolean): Promise<void> {
    if (allowed) await this.#deps.approved.add(listenKey(agent));
    if (allowed) this.#listening.delete(agent);
    else this.#listening.set(agent, 'refused');
    this.#deps.listenersChanged?.();
  }
}

/** What a program of the user settings loads outside the workspace is the user's own. */
function unpinnedOf({ fromUser }: ConfiguredProgram, { unpinned, isInWorkspace }: Fingerprint): readonly Unpinned[] {
  return fromUser === true && !isInWorkspace ? [] : unpinned;
}

/** The key under which the approval of an outside agent is stored. */
export function listenKey(agent: string): string {
  return `listen:${agent}`;
}

function attachKey(name: string): string {
  return `attach:${name}`;
}

function identityOf(name: string, { pid, started }: PeerProcess): string {
  return `${name} ${pid} ${started}`;
}

function untrusted() {
  return failed('untrusted', 'Program plugins do not run in an untrusted workspace.', 'Trust the workspace first.');
}

export function notApproved(name: string) {
  return failed(
    'not_approved',
    `The program plugin ${name} is not approved.`,
    'Approve it in the Program Plugins view.',
  );
}
