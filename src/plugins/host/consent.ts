// Whether a plugin may run: by the settings, by what the user approved before, and by asking.
import { failed, type Result, succeeded } from '../../base/errors.ts';
import { type Program } from '../../protocol/plugin.ts';
import { type ApprovedPrograms } from './approvedPrograms.ts';
import {
  approvalKey,
  type CommandFile,
  type Fingerprint,
  fingerprintCommand,
  placesOf,
} from '../../node/files/fingerprint.ts';

/** What the user decides before a program runs for the first time, or after it has changed. */
export interface RunConsent {
  readonly name: string;
  readonly command: readonly string[];
  readonly files: readonly CommandFile[];
  /** It may answer approvals and questions. */
  readonly approve: boolean;
  /** Nobody has just asked for it: it starts with the window. */
  readonly unasked: boolean;
}

export interface AttachConsent {
  readonly name: string;
  readonly version: string;
  readonly approve: boolean;
}

/** An outside agent that wants to be notified of what happens in the workspace. */
export interface ListenConsent {
  readonly agent: string;
  readonly version: string;
}

export interface ConsentDeps {
  readonly approved: ApprovedPrograms;
  /** As the settings of user and workspace together allow it. */
  programs(): ReadonlyMap<string, Program>;
  /** Whether programs may be run at all. */
  isTrusted(): boolean;
  /** The folder that plugins run in; undefined without one. */
  folder(): string | undefined;
  confirmRun(consent: RunConsent): Promise<boolean>;
  confirmAttach(consent: AttachConsent): Promise<boolean>;
  confirmListen(consent: ListenConsent): Promise<boolean>;
}

/** A program as its files are now. */
export interface LookedProgram {
  readonly program: Program;
  readonly fingerprint: Fingerprint;
  readonly isApproved: boolean;
}

export class ProgramConsent {
  readonly #deps: ConsentDeps;
  /** Open questions by name: a program that connects again and again is asked for once. */
  readonly #attaching = new Map<string, Promise<boolean>>();
  /** Outside agents that the user was asked about in this window. */
  readonly #listening = new Map<string, 'asking' | 'refused'>();

  constructor(deps: ConsentDeps) {
    this.#deps = deps;
  }

  /** Asks the user if it has never run, or has changed. */
  async allow(name: string, unasked: boolean): Promise<Result<LookedProgram>> {
    if (!this.#deps.isTrusted()) return untrusted();
    const looked = await this.look(name);
    if (!looked.ok) return looked;
    const { program, fingerprint, isApproved } = looked.value;
    const { command, approve, run } = program;
    if (run === 'deny') return failed('not_approved', `The settings do not allow the program plugin ${name} to run.`);
    if (isApproved) return looked;
    const { files } = fingerprint;
    if (!(await this.#deps.confirmRun({ name, command, files, approve, unasked }))) return notApproved(name);
    await this.#deps.approved.add(approvalKey(fingerprint, name));
    // Somebody may have changed a file while the user was asked.
    const now = await this.look(name);
    if (!now.ok) return now;
    if (!now.value.isApproved) {
      return failed(
        'not_approved',
        `The program plugin ${name} was changed meanwhile.`,
        'Look at it, then run it again.',
      );
    }
    return now;
  }

  /** Whether it is approved as it is now, without asking. */
  async look(name: string): Promise<Result<LookedProgram>> {
    const program = this.#deps.programs().get(name);
    if (program === undefined) {
      return failed('plugin', `There is no program plugin “${name}”.`, 'Add it to earshot.plugins.programs.');
    }
    const folder = this.#deps.folder();
    if (folder === undefined) return failed('plugin', 'Program plugins need an open folder.', 'Open a folder first.');
    const made = await fingerprintCommand(program.command, folder);
    if (!made.ok) return made;
    const { run } = program;
    const isApproved =
      run === 'allow' || (run === 'ask' && (await this.#deps.approved.has(approvalKey(made.value, name))));
    return succeeded({ program, fingerprint: made.value, isApproved });
  }

  /** The files of all commands, as they are or would be. */
  places(): readonly string[] {
    const folder = this.#deps.folder();
    if (folder === undefined) return [];
    return [...this.#deps.programs().values()].flatMap(({ command }) => placesOf(command, folder));
  }

  /** A program that is attached by the window's socket: asked for once for each name. */
  async allowAttach(name: string, version: string): Promise<Result<void>> {
    const program = this.#deps.programs().get(name);
    if (!this.#deps.isTrusted()) return untrusted();
    if (program?.run === 'deny') return notApproved(name);
    const key = `attach:${name}`;
    if (program?.run === 'allow' || (await this.#deps.approved.has(key))) return succeeded(undefined);
    const approve = program?.approve === true;
    const asked = this.#attaching.get(name) ?? this.#askToAttach(key, { name, version, approve });
    this.#attaching.set(name, asked);
    try {
      return (await asked) ? succeeded(undefined) : notApproved(name);
    } finally {
      this.#attaching.delete(name);
    }
  }

  async #askToAttach(key: string, consent: AttachConsent): Promise<boolean> {
    const isAllowed = await this.#deps.confirmAttach(consent);
    if (isAllowed) await this.#deps.approved.add(key);
    return isAllowed;
  }

  /**
   * An outside agent that wants notifications: asked for once for each name, and once in each window if it is refused.
   * Nobody waits for the answer: a hook would delay its agent, and comes again anyway.
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
      this.#listening.set(agent, 'asking');
      const decide = async () => {
        if (!(await confirmListen({ agent, version }))) {
          this.#listening.set(agent, 'refused');
          return;
        }
        await approved.add(key);
        this.#listening.delete(agent);
      };
      void decide().catch(() => this.#listening.delete(agent));
    }
    return failed(
      'not_approved',
      `The user is asked in VS Code whether ${agent} may get notifications.`,
      'Try again later.',
    );
  }

  /** The user has installed it for this agent. */
  async approveListen(agent: string): Promise<void> {
    await this.#deps.approved.add(listenKey(agent));
  }
}

/** Where the approval of an outside agent is remembered. */
function listenKey(agent: string): string {
  return `listen:${agent}`;
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
