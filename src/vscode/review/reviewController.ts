// Reviews changes by the agent, and by others meanwhile: the list on the page, diff editors, buttons and commands.
import * as vscode from 'vscode';
import { Sequence } from '../../base/async.ts';
import { type Disposable, DisposableStore } from '../../base/disposable.ts';
import { type Result } from '../../base/errors.ts';
import { type PlanDeps } from '../../core/checkpoints/restore.ts';
import { type Review, type Reviewed, type ReviewedFile } from '../../core/checkpoints/review.ts';
import { type Client } from '../../core/client/client.ts';
import { holdOpen } from '../../core/client/local/owning.ts';
import { type ChangeList } from '../../core/conversation/projections/changes.ts';
import { type Earshot } from '../../core/earshot.ts';
import { type LocalPorts } from '../../core/client/local/localPorts.ts';
import { type ChatFrontend } from '../../core/frontend/chatFrontend.ts';
import { type Clock, type Logger } from '../../core/ports/ports.ts';
import { type Store } from '../../core/ports/storage.ts';
import { type DiskEntries } from '../../core/ports/workspace.ts';
import { type VerbParams } from '../../protocol/client/verbs.ts';
import { type ReviewHandlers, type ShownChat } from '../chat/pageHandlers.ts';
import { type CommandHandlers } from '../commands.ts';
import { CHANGED_FILES, COMMANDS } from '../ids.ts';
import { absoluteOf, toUri } from '../workspace/fileUris.ts';
import { beforeUri, goneUri, nowUri, ReviewContent } from './reviewContent.ts';
import { ReviewDecorations } from './reviewDecorations.ts';
import { ReviewLenses } from './reviewLenses.ts';
import { type Restoring } from './reviewRestore.ts';
import { closeReviews, reviewTitle } from './reviewTabs.ts';
import { failureMessage } from '../failureMessage.ts';

export interface ReviewControllerDeps {
  readonly earshot: Earshot;
  readonly client: Client;
  readonly frontend: ChatFrontend;
  /** For comparing files; all changes are made by `client`. */
  readonly files: Omit<PlanDeps, 'live'> & { readonly entries: DiskEntries };
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly chat: ShownChat;
  /** Keeps a conversation live until the result is disposed of. */
  readonly keepAlive: LocalPorts['keepAlive'];
  /** Continues the conversation in a fork that ends before this request, and shows it. */
  rewind(conversation: string, request: string): Promise<Result<void>>;
}

type ReviewVerb = 'keep' | 'undo' | 'restore' | 'revert';
/** Without a conversation they are about the shown one. */
type ReviewParams<V extends ReviewVerb> = Omit<VerbParams<V>, 'conversation'> & { conversation?: string | undefined };

const REFRESH_MILLISECONDS = 150;

export class ReviewController implements Disposable {
  readonly #deps: ReviewControllerDeps;
  readonly #held = new DisposableStore();
  readonly #content: ReviewContent;
  readonly #lenses: ReviewLenses;
  readonly #decorations: ReviewDecorations;
  #timer: Disposable | undefined;
  readonly #refreshes = new Sequence();
  #listed: ReadonlySet<string> = new Set();
  #shown: string | undefined;

  constructor(deps: ReviewControllerDeps) {
    this.#deps = deps;
    this.#lenses = this.#held.add(new ReviewLenses());
    this.#decorations = this.#held.add(new ReviewDecorations());
    this.#content = this.#held.add(
      new ReviewContent({
        workspace: deps.files.workspace,
        base: async (path, list) => (await this.#review(list)).base(path),
        present: async (path, list) => (await this.#review(list)).present(path),
      }),
    );
    this.#held.add(
      deps.earshot.onDidChange(({ conversation, folded }) => {
        if (conversation !== deps.chat.shown) return;
        if (folded === undefined || folded.reviewChanged) this.refreshSoon();
      }),
    );
    this.#held.add(
      deps.chat.onDidRefresh(() => {
        if (deps.chat.shown !== this.#shown) this.refreshSoon();
      }),
    );
    // Review editors from before a reload are empty.
    void closeReviews().catch((error: unknown) => deps.logger.error('old reviews could not be closed', error));
    const refreshIfListed = (uri: vscode.Uri) => {
      if (this.#listed.has(uri.toString())) this.refreshSoon();
    };
    this.#held.add(vscode.workspace.onDidChangeTextDocument(({ document }) => refreshIfListed(document.uri)));
    this.#held.add(vscode.workspace.onDidSaveTextDocument((document) => refreshIfListed(document.uri)));
    this.#held.add(vscode.workspace.onDidCreateFiles(({ files }) => files.forEach(refreshIfListed)));
    this.#held.add(vscode.workspace.onDidDeleteFiles(({ files }) => files.forEach(refreshIfListed)));
    this.#held.add(
      vscode.window.onDidChangeWindowState(({ focused }) => {
        if (focused && this.#listed.size > 0) this.refreshSoon();
      }),
    );
  }

  refreshSoon(): void {
    this.#timer ??= this.#held.add(
      this.#deps.clock.after(REFRESH_MILLISECONDS, () => {
        if (this.#timer !== undefined) this.#held.release(this.#timer);
        this.#timer = undefined;
        const report = (error: unknown) => this.#deps.logger.error('the changes could not be compared', error);
        void this.#refreshes.run(() => this.#refresh()).catch(report);
      }),
    );
  }

  readonly handlers: ReviewHandlers = {
    review_changes: ({ path, line, meanwhile }) =>
      path === undefined ? this.#showAll() : this.#showOne(path, line, listOf(meanwhile)),
    keep: ({ type, ...params }) => this.#decide(type, params),
    undo: ({ type: _type, ...params }) => this.#undo(params),
    restore: ({ request, conversation }) => this.#restore(request, conversation),
    revert: ({ type, ...params }) => this.#decide(type, params),
  };

  readonly commands = {
    [COMMANDS.reviewChanges]: () => this.#showAll(),
    [COMMANDS.keepChanges]: () => this.#decide('keep', {}),
    [COMMANDS.undoChanges]: () => this.#undo({}),
    [COMMANDS.keepFile]: () => this.#onActive(({ path }) => this.#decide('keep', { path })),
    [COMMANDS.undoFile]: () => this.#onActive(({ path }) => this.#undo({ path })),
    [COMMANDS.keepChange]: (line: unknown, uri: unknown) => this.#onHunk('keep', line, uri),
    [COMMANDS.undoChange]: (line: unknown, uri: unknown) => this.#onHunk('undo', line, uri),
    [COMMANDS.restore]: () => this.#restore(),
  } satisfies Partial<CommandHandlers>;

  dispose(): void {
    this.#held.dispose();
  }

  #live() {
    const shown = this.#deps.chat.shown;
    return shown === undefined ? undefined : this.#deps.earshot.get(shown);
  }

  /** For reading only: decisions go through the client. */
  async #review(list: ChangeList = 'own'): Promise<Pick<Review, 'files' | 'file' | 'base' | 'present'>> {
    const { Review: Loaded } = await import('../../core/checkpoints/review.ts');
    return new Loaded({ ...this.#deps.files, live: () => this.#live() }, list);
  }

  async #decide<V extends ReviewVerb>(verb: V, params: ReviewParams<V>): Promise<void> {
    const { client, chat } = this.#deps;
    const named = { conversation: chat.shown ?? '', ...params } as unknown as VerbParams<V>;
    await this.#reportOutcome(await client.call(verb, named));
  }

  /** Asks first, unless it is about a single hunk. */
  async #undo(params: ReviewParams<'undo'>): Promise<void> {
    if (params.hunk !== undefined || (await this.#confirmUndo(params))) await this.#decide('undo', params);
  }

  async #confirmUndo({ path, meanwhile }: ReviewParams<'undo'>): Promise<boolean> {
    const review = await this.#review(listOf(meanwhile));
    const files = path === undefined ? await review.files(Infinity) : [await review.file(path)];
    const changed = files.filter((file) => file !== undefined);
    if (changed.length > 0) return (await import('./reviewQuestions.ts')).confirmUndo(changed, meanwhile);
    await this.#showNoChanges();
    return false;
  }

  /**
   * Without a request the user chooses one. The conversation is live meanwhile. Only the shown one can be continued from
   * an earlier point: a fork was already.
   */
  async #restore(request?: string, conversation = this.#deps.chat.shown): Promise<void> {
    const { earshot, chat, files, client } = this.#deps;
    const { chooseTurn, restoreTo } = await import('./reviewRestore.ts');
    const held = conversation === undefined ? undefined : await holdOpen(this.#deps, conversation);
    if (held?.ok === false) return this.#reportOutcome(held);
    const id = conversation ?? '';
    const restoring: Restoring = {
      deps: { ...files, live: () => earshot.get(id) },
      restore: (turn, chosen) => client.call('restore', { conversation: id, request: turn, files: chosen }),
      ...(id === chat.shown && { rewind: (turn: string) => this.#deps.rewind(id, turn) }),
    };
    let outcome: Result<Reviewed> | undefined;
    try {
      outcome = await (request === undefined ? chooseTurn(restoring) : restoreTo(restoring, request));
    } finally {
      held?.value.hold.dispose();
    }
    // Only now, since the message stays until the user closes it.
    if (outcome !== undefined) await this.#reportOutcome(outcome);
  }

  async #refresh(): Promise<void> {
    const isSame = this.#shown === this.#deps.chat.shown;
    this.#shown = this.#deps.chat.shown;
    const changes = this.#live()?.log.state.changes;
    const isEmpty = (changes?.open.size ?? 0) + (changes?.meanwhile.size ?? 0) === 0;
    if (isEmpty && this.#listed.size === 0) {
      this.#deps.frontend.setHead({ changes: null });
      return;
    }
    const files = isEmpty ? [] : await (await this.#review()).files();
    const meanwhile = isEmpty ? [] : await (await this.#review('meanwhile')).files();
    const { viewChanges } = await import('./reviewView.ts');
    this.#deps.frontend.setHead({ changes: viewChanges(files, meanwhile) });
    const uris = await Promise.all(files.map(({ path }) => this.#uriOf(path)));
    const others = await Promise.all(meanwhile.map(({ path }) => this.#uriOf(path)));
    // Everything was kept or undone, or they show changes of another conversation.
    if (this.#listed.size > 0 && (files.length === 0 || !isSame)) await closeReviews({ files: !isSame });
    this.#listed = new Set([...uris, ...others].flatMap((uri) => uri?.toString() ?? []));
    this.#content.refresh();
    const parts = partsOf(files, uris);
    this.#lenses.update(parts);
    this.#decorations.update(parts);
    await vscode.commands.executeCommand(
      'setContext',
      CHANGED_FILES,
      uris.flatMap((uri) => uri?.fsPath ?? []),
    );
  }

  async #uriOf(path: string): Promise<vscode.Uri | undefined> {
    const file = await this.#deps.files.workspace.resolve(path);
    if (file.ok && !this.#deps.files.entries.isOdd(path)) return toUri(file.value);
    // For a link out of the workspace, or a name that is not valid Unicode, the URI is only for display.
    const [folder] = vscode.workspace.workspaceFolders ?? [];
    return folder && vscode.Uri.joinPath(folder.uri, new TextDecoder().decode(new TextEncoder().encode(path)));
  }

  async #showOne(path: string, line?: number, list: ChangeList = 'own'): Promise<void> {
    const uri = await this.#uriOf(path);
    const file = await (await this.#review(list)).file(path);
    if (uri === undefined || file === undefined) return this.#showNoChanges();
    const at = new vscode.Position(Math.max(0, (line ?? firstChangedLine(file)) - 1), 0);
    const now = file.onDiskOnly ? nowUri(uri, path, list) : uri;
    const right = file.kind === 'deleted' ? goneUri(uri) : now;
    const options: vscode.TextDocumentShowOptions = { preview: true, selection: new vscode.Range(at, at) };
    const left = beforeUri(uri, path, list);
    await vscode.commands.executeCommand('vscode.diff', left, right, titleOf(file, list), options);
  }

  async #showAll(): Promise<void> {
    const files = await (await this.#review()).files();
    if (files.length === 0) return this.#showNoChanges();
    const resources = await Promise.all(
      files.map(async ({ path, kind, onDiskOnly }) => {
        const uri = await this.#uriOf(path);
        if (uri === undefined) return [];
        const now = onDiskOnly ? nowUri(uri, path, 'own') : uri;
        return [[uri, kind === 'created' ? undefined : beforeUri(uri, path), kind === 'deleted' ? undefined : now]];
      }),
    );
    await vscode.commands.executeCommand('vscode.changes', reviewTitle(), resources.flat());
    // Everything may have been kept or undone while the editor was opening.
    if (this.#live()?.log.state.changes.open.size === 0) await closeReviews();
  }

  async #onActive(
    act: (file: ReviewedFile) => Promise<void>,
    uri = vscode.window.activeTextEditor?.document.uri,
  ): Promise<void> {
    const resolved = uri && (await this.#deps.files.workspace.resolve(absoluteOf(uri)));
    const review = await this.#review();
    const file = resolved?.ok === true ? await review.file(resolved.value.path) : undefined;
    await (file === undefined ? this.#showNoChanges() : act(file));
  }

  /** Decides on the change at the line of a CodeLens or of a link, or else at the cursor. */
  async #onHunk(verb: 'keep' | 'undo', given: unknown, givenUri: unknown): Promise<void> {
    const line = typeof given === 'number' ? given : (vscode.window.activeTextEditor?.selection.active.line ?? 0);
    const uri = typeof givenUri === 'string' ? vscode.Uri.parse(givenUri) : undefined;
    await this.#onActive(({ path, version, ...file }) => {
      return this.#decide(verb, { path, hunk: { version, index: nearestHunk(file, line) } });
    }, uri);
  }

  /** Shows failures and files that were not changed. */
  async #reportOutcome(result: Result<Reviewed>): Promise<void> {
    this.refreshSoon();
    if (!result.ok) {
      await vscode.window.showWarningMessage(failureMessage(result.failure));
      return;
    }
    const { stayed } = result.value;
    const [first] = stayed;
    if (first === undefined) return;
    const lines = stayed.map(({ path, reason }) => `${path}: ${reason}`).join('\n');
    const show = vscode.l10n.t('Show');
    const text = stayed.length === 1 ? lines : vscode.l10n.t('{0} files were not changed. {1}', stayed.length, lines);
    if ((await vscode.window.showWarningMessage(text, show)) === show) await this.#showOne(first.path);
  }

  async #showNoChanges(): Promise<void> {
    await vscode.window.showInformationMessage(vscode.l10n.t('There are no changes to review.'));
  }
}

function partsOf(files: readonly ReviewedFile[], uris: readonly (vscode.Uri | undefined)[]) {
  return new Map(
    files.flatMap(({ kind, clash, hunks = [] }, index) => {
      const uri = uris[index];
      if (uri === undefined || clash || kind === 'deleted') return [];
      return [[uri.toString(), hunks] as const];
    }),
  );
}

function listOf(meanwhile: true | undefined): ChangeList {
  return meanwhile === true ? 'meanwhile' : 'own';
}

function titleOf({ path, kind }: ReviewedFile, list: ChangeList): string {
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (list === 'meanwhile') return `${name} (${vscode.l10n.t('changed meanwhile')})`;
  const states = {
    changed: vscode.l10n.t('changed by Earshot'),
    created: vscode.l10n.t('created by Earshot'),
    deleted: vscode.l10n.t('deleted by Earshot'),
  };
  return `${name} (${states[kind]})`;
}

function firstChangedLine({ hunks }: ReviewedFile): number {
  return (hunks?.[0]?.start ?? 0) + 1;
}

/** The hunk that contains the line, or the nearest one. */
function nearestHunk({ hunks = [] }: Pick<ReviewedFile, 'hunks'>, line: number): number {
  const distances = hunks.map(({ start, added }) =>
    Math.max(start - line, line - (start + Math.max(1, added.length) - 1), 0),
  );
  return Math.max(0, distances.indexOf(Math.min(...distances)));
}
