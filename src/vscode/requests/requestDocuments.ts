// Read-only documents with the requests of a conversation as they were sent, and the commands that step through them, compare
// them and report them.
import { homedir } from 'node:os';
import * as vscode from 'vscode';
import { type Disposable } from '../../base/disposable.ts';
import { type Result, failed, succeeded } from '../../base/errors.ts';
import { writeBugReport } from '../../core/knowledge/bugReport.ts';
import { callOf, rebuildRequest, type SentCall, sentCalls } from '../../core/knowledge/sentRequests.ts';
import { type Snapshots, type Store } from '../../core/ports/storage.ts';
import { type Workspace } from '../../core/ports/workspace.ts';
import { printAgain } from '../../models/sentRequest.ts';
import { platform } from '../../node/platform/platform.ts';
import { type LogEvent } from '../../protocol/event.ts';
import { type CommandHandlers } from '../commands.ts';
import { failureMessage } from '../failureMessage.ts';
import { COMMANDS, REQUEST_SCHEME } from '../ids.ts';
import { toUri } from '../workspace/fileUris.ts';
import { describeRequest, printRequest, type ShownRequest } from './requestText.ts';

export interface RequestDocumentsDeps {
  readonly store: Pick<Store, 'scan'>;
  readonly snapshots: Snapshots;
  readonly workspace: Workspace;
  /** The shown conversation. */
  shown(): string | undefined;
  /** The URI of a snapshot's document. */
  contentOf(path: string, hash: string): vscode.Uri;
  /** Earshot's version. */
  readonly version: string;
}

/** What a document's URI names; `seq` is the model call's. */
interface RequestReference {
  readonly conversation: string;
  readonly seq: number;
}

export class RequestDocuments implements vscode.TextDocumentContentProvider, Disposable {
  readonly #deps: RequestDocumentsDeps;
  readonly #registration: vscode.Disposable;

  constructor(deps: RequestDocumentsDeps) {
    this.#deps = deps;
    this.#registration = vscode.workspace.registerTextDocumentContentProvider(REQUEST_SCHEME, this);
  }

  readonly commands = {
    [COMMANDS.showRequest]: (item: unknown) => this.show(typeof item === 'string' ? item : undefined),
    [COMMANDS.previousRequest]: () => this.#step(-1),
    [COMMANDS.nextRequest]: () => this.#step(1),
    [COMMANDS.compareRequest]: () => this.#compareRequest(),
    [COMMANDS.compareKnownFile]: () => this.#compareFile(),
    [COMMANDS.copyBugReport]: () => this.#copyBugReport(),
  } satisfies Partial<CommandHandlers>;

  async provideTextDocumentContent({ query }: vscode.Uri): Promise<string> {
    const read = await this.#read(JSON.parse(query) as RequestReference);
    return read.ok ? printRequest(read.value) : `// ${failureMessage(read.failure)}\n`;
  }

  /** The request of an answer or a call; absent: the last one. */
  async show(item?: string): Promise<void> {
    const conversation = this.#deps.shown();
    const read = conversation === undefined ? undefined : await this.#calls(conversation);
    if (conversation === undefined || read?.ok !== true || read.value.calls.length === 0) {
      void vscode.window.showInformationMessage(vscode.l10n.t('Nothing was sent to a model in this conversation yet.'));
      return;
    }
    const { calls, events } = read.value;
    const found = item === undefined ? calls.at(-1) : callOf(calls, events, item);
    if (found === undefined) {
      void vscode.window.showInformationMessage(vscode.l10n.t('This request is not in the log any more.'));
      return;
    }
    await open(uriOf(conversation, calls, found));
  }

  dispose(): void {
    this.#registration.dispose();
  }

  async #step(by: number): Promise<void> {
    const active = activeRequest();
    const read = active && (await this.#calls(active.named.conversation));
    if (active === undefined || read?.ok !== true) return;
    const { conversation, seq } = active.named;
    const { calls } = read.value;
    const next = calls[calls.findIndex(({ call }) => call.seq === seq) + by];
    if (next === undefined) return;
    await (active.isDiff ? openDifference(conversation, calls, next) : open(uriOf(conversation, calls, next)));
  }

  async #compareRequest(): Promise<void> {
    const active = activeRequest();
    const read = active && (await this.#calls(active.named.conversation));
    if (active === undefined || read?.ok !== true) return;
    const { conversation, seq } = active.named;
    const found = read.value.calls.find(({ call }) => call.seq === seq);
    if (found !== undefined) await openDifference(conversation, read.value.calls, found);
  }

  /** Between a file as the model knew it with this request, and the file now. */
  async #compareFile(): Promise<void> {
    const active = activeRequest();
    const read = active && (await this.#read(active.named));
    if (read?.ok !== true) return;
    const { workspace, snapshots, contentOf } = this.#deps;
    const known = read.value.rebuilt.state.seen.known.filter(({ compacted }) => compacted !== true);
    const items = known.map(({ path, hash, at }) => ({ label: path, description: at, hash }));
    const chosen = await vscode.window.showQuickPick(items, {
      placeHolder: vscode.l10n.t('File as the model knew it'),
    });
    if (chosen === undefined) return;
    if ((await snapshots.get(chosen.hash)) === undefined) {
      void vscode.window.showInformationMessage(
        vscode.l10n.t('The version that the model has read is no longer stored.'),
      );
      return;
    }
    const file = await workspace.resolve(chosen.label);
    if (!file.ok) {
      void vscode.window.showInformationMessage(failureMessage(file.failure));
      return;
    }
    const title = vscode.l10n.t('{0} (with request {1} ↔ now)', chosen.label, read.value.number);
    await vscode.commands.executeCommand(
      'vscode.diff',
      contentOf(chosen.label, chosen.hash),
      toUri(file.value),
      title,
      { preview: true },
    );
  }

  async #copyBugReport(): Promise<void> {
    const active = activeRequest();
    const read = active && (await this.#read(active.named));
    if (active === undefined || read?.ok !== true) return;
    const { events, rebuilt, printed } = read.value;
    const folders = this.#deps.workspace.folders.map(({ absolute }) => [absolute, '.'] as const);
    const report = writeBugReport({
      version: this.#deps.version,
      host: [vscode.version, platform.programs.target, process.version].join(' '),
      about: describeRequest(read.value),
      body: printed.body,
      events,
      seq: active.named.seq,
      key: rebuilt.state.turn.key,
      places: [...folders, [homedir(), '~'] as const].sort(([a], [b]) => b.length - a.length),
    });
    await vscode.env.clipboard.writeText(report);
    void vscode.window.showInformationMessage(
      vscode.l10n.t(
        'The bug report is in the clipboard. Secrets that were recognized are masked; read it before you send it.',
      ),
    );
  }

  async #calls(
    conversation: string,
  ): Promise<Result<{ readonly events: readonly LogEvent[]; readonly calls: readonly SentCall[] }>> {
    const read = await this.#deps.store.scan(conversation, 0);
    if (!read.ok) return read;
    const events = [...read.value.events];
    return succeeded({ events, calls: sentCalls(events) });
  }

  async #read({ conversation, seq }: RequestReference): Promise<Result<ShownRequest>> {
    const read = await this.#calls(conversation);
    if (!read.ok) return read;
    const { events, calls } = read.value;
    const index = calls.findIndex(({ call }) => call.seq === seq);
    const sent = calls[index];
    if (sent === undefined) return failed('not_found', vscode.l10n.t('This request is not in the log any more.'));
    const rebuilt = await rebuildRequest(events, sent, this.#deps.snapshots);
    const { call } = sent;
    const printed = await printAgain(call.sent ?? guess(call), rebuilt.request);
    return succeeded({
      ...{ number: index + 1, total: calls.length, sent, before: calls[index - 1], events, rebuilt, printed },
    });
  }
}

/** The form of a request whose log does not say it. */
function guess({ origin, model }: SentCall['call']) {
  const { api = 'chat' as const, provider = 'https://unknown.invalid' } = origin ?? {};
  return { api, base_url: provider, model: origin?.model ?? model, bytes: 0, crc: 0 };
}

function uriOf(conversation: string, calls: readonly SentCall[], sent: SentCall): vscode.Uri {
  const path = `/${vscode.l10n.t('Request {0} of {1}', calls.indexOf(sent) + 1, calls.length)}.jsonc`;
  const named: RequestReference = { conversation, seq: sent.call.seq };
  return vscode.Uri.from({ scheme: REQUEST_SCHEME, path, query: JSON.stringify(named) });
}

/** Messages and tools are folded. */
async function open(uri: vscode.Uri): Promise<void> {
  await vscode.window.showTextDocument(uri, { preview: true });
  await vscode.commands.executeCommand('editor.foldLevel3');
}

async function openDifference(conversation: string, calls: readonly SentCall[], sent: SentCall): Promise<void> {
  const number = calls.indexOf(sent);
  const before = calls[number - 1];
  if (before === undefined) return open(uriOf(conversation, calls, sent));
  const title = vscode.l10n.t('Request {0} ↔ {1}', number, number + 1);
  const [left, right] = [uriOf(conversation, calls, before), uriOf(conversation, calls, sent)];
  await vscode.commands.executeCommand('vscode.diff', left, right, title, { preview: true });
}

/** The request in the active editor, alone or as the right side of a difference. */
function activeRequest(): { readonly named: RequestReference; readonly isDiff: boolean } | undefined {
  const input = vscode.window.tabGroups.activeTabGroup.activeTab?.input;
  const isDiff = input instanceof vscode.TabInputTextDiff;
  const uri = isDiff ? input.modified : input instanceof vscode.TabInputText ? input.uri : undefined;
  return uri?.scheme === REQUEST_SCHEME ? { named: JSON.parse(uri.query) as RequestReference, isDiff } : undefined;
}
