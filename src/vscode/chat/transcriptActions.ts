// Handles the user's actions on items of the transcript that need the editor: code blocks, files, diffs, terminals.
import * as vscode from 'vscode';
import { type Disposable } from '../../base/disposable.ts';
import { decodeText } from '../../base/text.ts';
import { type Earshot } from '../../core/earshot.ts';
import { type Snapshots } from '../../core/ports/storage.ts';
import { type Workspace } from '../../core/ports/workspace.ts';
import { printRanges } from '../../core/files/seenPart.ts';
import { type Handles } from '../../core/tools/handles.ts';
import { type CommandHandlers } from '../commands.ts';
import { COMMANDS, PROPOSAL_SCHEME } from '../ids.ts';
import { insertCode, Proposals, runInTerminal } from './codeActions.ts';
import { type TranscriptHandlers } from './pageHandlers.ts';
import { toUri } from '../workspace/fileUris.ts';
import { TerminalMirrors } from './terminalMirror.ts';
import { failureMessage } from '../failureMessage.ts';
import { describeError, failed, type Result, succeeded } from '../../base/errors.ts';

export const SNAPSHOT_SCHEME = 'earshot-call';

export interface TranscriptActionsDeps {
  readonly earshot: Pick<Earshot, 'get'>;
  readonly workspace: Workspace;
  readonly handles: Pick<Handles, 'byRun'>;
  readonly snapshots: Snapshots;
  shown(): string | undefined;
  notice(text: string): void;
  report(error: unknown): void;
}

export class TranscriptActions implements Disposable {
  readonly #deps: TranscriptActionsDeps;
  readonly #registrations: readonly vscode.Disposable[];
  readonly #proposals: Proposals;
  readonly #mirrors: TerminalMirrors;

  constructor(deps: TranscriptActionsDeps) {
    this.#deps = deps;
    this.#mirrors = new TerminalMirrors(deps.report);
    this.#proposals = new Proposals(
      async (path, content) =>
        contentUri(PROPOSAL_SCHEME, path, await deps.snapshots.put(new TextEncoder().encode(content))),
      (text) => deps.notice(text),
    );
    const provider: vscode.TextDocumentContentProvider = {
      provideTextDocumentContent: async ({ query }) => {
        const bytes = query === '' ? undefined : await deps.snapshots.get(query);
        if (bytes === undefined) return '';
        return decodeText(bytes) ?? vscode.l10n.t('This file is not text ({0} bytes).', bytes.length);
      },
    };
    this.#registrations = [SNAPSHOT_SCHEME, PROPOSAL_SCHEME].map((scheme) =>
      vscode.workspace.registerTextDocumentContentProvider(scheme, provider),
    );
  }

  readonly commands = {
    [COMMANDS.applyCode]: () => this.#proposals.apply(),
  } satisfies Partial<CommandHandlers>;

  dispose(): void {
    this.#mirrors.dispose();
    for (const registration of this.#registrations) registration.dispose();
  }

  readonly handlers: TranscriptHandlers = {
    insert_code: ({ text }) => insertCode(text, this.#deps.notice),
    apply_code: ({ text }) => this.#proposals.show(text),
    run_in_terminal: ({ text }) => runInTerminal(text),
    open_diff: ({ call, path }) => this.#openDiff(call, path),
    show_request: async ({ item }) => vscode.commands.executeCommand(COMMANDS.showRequest, item),
    open_known_difference: ({ path }) => this.#openKnownDifference(path),
    open_file: async (place) => {
      const opened = await openFile(this.#deps.workspace, place);
      if (!opened.ok) this.#deps.notice(failureMessage(opened.failure));
    },
    show_terminal: ({ call }) => {
      const handle = this.#deps.handles.byRun(this.#deps.shown() ?? '', call);
      if (handle === undefined) this.#deps.notice(vscode.l10n.t('This command is no longer running.'));
      else this.#mirrors.show(handle);
    },
  };

  async #openDiff(call: string, path: string): Promise<void> {
    const shown = this.#deps.shown();
    const live = shown === undefined ? undefined : this.#deps.earshot.get(shown);
    const item = live?.log.state.transcript.items.find(({ id }) => id === call);
    const change = (item?.type === 'tool' ? item.changes : undefined)?.find((one) => one.path === path);
    if (change === undefined) {
      this.#deps.notice(vscode.l10n.t('This change is no longer stored.'));
      return;
    }
    const [before, after] = [
      contentUri(SNAPSHOT_SCHEME, path, change.before),
      contentUri(SNAPSHOT_SCHEME, path, change.after),
    ];
    await vscode.commands.executeCommand('vscode.diff', before, after, path, { preview: true });
  }

  /** Between the last version of a file that the model read, and the file now. */
  async #openKnownDifference(path: string): Promise<void> {
    const { earshot, workspace, snapshots } = this.#deps;
    const seen = earshot.get(this.#deps.shown() ?? '')?.log.state.seen.get(path);
    if (seen === undefined || (await snapshots.get(seen.hash)) === undefined) {
      this.#deps.notice(vscode.l10n.t('The version that the model has read is no longer stored.'));
      return;
    }
    const file = await workspace.resolve(path);
    const present = file.ok ? toUri(file.value) : undefined;
    const exists =
      present !== undefined &&
      (await vscode.workspace.fs.stat(present).then(
        () => true,
        () => false,
      ));
    const now = exists ? present : contentUri(SNAPSHOT_SCHEME, path, undefined);
    const ranges = printRanges(seen.part?.ranges);
    const title =
      ranges === ''
        ? vscode.l10n.t('{0} (last read ↔ now)', path)
        : vscode.l10n.t('{0} (last read, lines {1} ↔ now)', path, ranges);
    await vscode.commands.executeCommand('vscode.diff', contentUri(SNAPSHOT_SCHEME, path, seen.hash), now, title, {
      preview: true,
    });
  }
}

/** The document is empty if there is no hash. */
export function contentUri(scheme: string, path: string, hash: string | undefined): vscode.Uri {
  return vscode.Uri.from({ scheme, path: `/${path}`, query: hash ?? '' });
}

interface Place {
  readonly path: string;
  /** Lines and columns are counted from 1. */
  readonly line?: number | undefined;
  readonly column?: number | undefined;
}

/** Opens a file of the workspace in the editor, at a line and column if given. */
async function openFile(workspace: Workspace, { path, line, column = 1 }: Place): Promise<Result<void>> {
  const file = await workspace.resolve(path);
  if (!file.ok) return file;
  const position = line === undefined ? undefined : new vscode.Position(line - 1, column - 1);
  const selection = position && new vscode.Range(position, position);
  try {
    await vscode.window.showTextDocument(toUri(file.value), { preview: true, ...(selection && { selection }) });
    return succeeded(undefined);
  } catch (error) {
    return failed('not_found', vscode.l10n.t('{0} cannot be opened: {1}.', path, describeError(error)));
  }
}
