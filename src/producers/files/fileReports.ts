// Reports to a conversation that a seen file changed, was deleted or is back, compared with the state that it knows.
import { CHANGING, GONE } from '../../core/files/fileState.ts';
import {
  fileAgainAsRead,
  fileChanged,
  fileDeleted,
  fileKeepsChanging,
  fileWithheld,
} from '../../core/notify/wording/fileChange.ts';
import { type Publisher, type SeenFile, type SeenFiles } from '../../core/ports/ports.ts';
import { fileScope } from '../../protocol/scopes.ts';
import { type ReportDraft, ReportOnce } from '../reportOnce.ts';
import { type Authorship } from './authorship.ts';
import { type FileProducerDeps, knownOf, type SettledFile } from './currentFile.ts';
import { type NewFiles } from './newFiles.ts';
import { decodeText } from '../../base/text.ts';
import { followLines } from '../../core/files/followLines.ts';
import { type SeenState } from '../../core/ports/fileViews.ts';
import { type Snapshots } from '../../core/ports/storage.ts';

export interface FileReportsDeps extends FileProducerDeps {
  readonly publisher: Publisher;
  readonly seen: SeenFiles;
  readonly authorship: Authorship;
  readonly newFiles: NewFiles;
  /** The conversations for which the file was not observed until now. Each is returned once. */
  takeJoined(path: string): readonly string[];
  isEnded(): boolean;
  failed(error: unknown): void;
}

type SeenFileView = SeenFile['by'][number];

interface Reported {
  readonly hash: string;
  /** The seen hash that it was compared with. */
  readonly since: string;
}

export class FileReports {
  readonly #deps: FileReportsDeps;
  /** What was reported last. */
  readonly #reports: ReportOnce<Reported>;

  constructor(deps: FileReportsDeps) {
    this.#deps = deps;
    this.#reports = new ReportOnce({ ...deps, until: 'queued' });
  }

  /** Whether every conversation was shown or notified of this state last. */
  isKnown(path: string, hash: string): boolean {
    return this.#viewsOf(path).every((view) => this.#knownTo(path, view) === hash);
  }

  /** The bytes of the file that some conversation has seen last. */
  async lastSeen(path: string): Promise<Uint8Array | undefined> {
    const [view] = this.#viewsOf(path);
    return view && this.#deps.snapshots.get(view.hash);
  }

  /** For a file that never has the same content in two reads. */
  reportKeepsChanging(path: string): void {
    for (const view of this.#viewsOf(path)) {
      if (this.#knownTo(path, view) === CHANGING) continue;
      this.#publish(path, view, CHANGING, fileKeepsChanging(path));
    }
  }

  async report(file: SettledFile): Promise<void> {
    const { path, bytes, hash } = file;
    const joined = this.#deps.takeJoined(path);
    const views = this.#viewsOf(path);
    if (bytes !== undefined && views.some((view) => view.hash !== hash)) {
      // Stored before anybody is notified, since the carrier of the notification names these bytes as seen.
      await this.#deps.snapshots.put(bytes);
    }
    await this.#deps.authorship.savesKnown(path);
    for (const view of views) await this.#reportTo(view, file, joined.includes(view.conversation));
  }

  #viewsOf(path: string): readonly SeenFileView[] {
    return this.#deps.seen.get(path)?.by ?? [];
  }

  /** The state that the conversation was shown or notified of last. */
  #knownTo(path: string, view: SeenFileView): string {
    return this.#reports.get(view.conversation, fileScope(path))?.hash ?? knownOf(view);
  }

  async #reportTo(view: SeenFileView, file: SettledFile, unobserved: boolean): Promise<void> {
    const { path, bytes } = file;
    const { conversation, hash } = view;
    const now = file.hash ?? GONE;
    const subject = fileScope(path);
    const publishing = this.#reports.get(conversation, subject);
    // A report that is held while the conversation sees the file again would show its own edit as a change.
    const isOutdated = publishing !== undefined && publishing.since !== hash;
    if (!isOutdated && now === (publishing?.hash ?? view.announced)) return;
    if (now === hash) return this.#reportBack(path, view);
    const author = this.#deps.authorship.judge({ ...file, unobserved }, conversation);
    if (author === 'own') return;
    if (file.withheld !== undefined) {
      await this.#withdraw('deleted', path, conversation, 'it is there again');
      this.#publish(path, view, now, fileWithheld(path, now, file.withheld, author));
      return;
    }
    if (bytes === undefined) return this.#reportDeleted(path, view, author);
    await this.#withdraw('deleted', path, conversation, 'it is there again');
    const before = await this.#deps.snapshots.get(hash);
    const fresh = this.#viewsOf(path).find((one) => one.conversation === conversation);
    if (fresh === undefined) return;
    if (fresh.hash !== hash) return this.#reportTo(fresh, file, unobserved);
    const lines = await judgeSearched(this.#deps.snapshots, fresh, bytes);
    if (lines === 'back') return this.#reportBack(path, fresh);
    if (lines === 'none') return;
    this.#publish(path, view, now, fileChanged(path, before, { bytes, hash: now }, author));
  }

  /** The file is again as the conversation has seen it: reported only if another state was announced to it. */
  async #reportBack(path: string, view: SeenFileView): Promise<void> {
    const { conversation, hash } = view;
    this.#reports.forget(conversation, fileScope(path));
    await this.#withdraw('changed', path, conversation, 'it is again as it was seen');
    await this.#withdraw('deleted', path, conversation, 'it is there again, as it was seen');
    const announced = this.#viewsOf(path).find((one) => one.conversation === conversation)?.announced;
    if (announced === undefined || announced === hash) return;
    this.#publish(path, view, hash, fileAgainAsRead(path, hash));
  }

  async #reportDeleted(path: string, view: SeenFileView, author: Parameters<typeof fileDeleted>[1]): Promise<void> {
    const { clock, newFiles, isEnded } = this.#deps;
    const { conversation, hash } = view;
    const at = new Date(clock.now()).toISOString();
    await this.#withdraw('changed', path, conversation, 'it was deleted');
    const report = (movedTo?: string) => this.#publish(path, view, GONE, { ...fileDeleted(path, author, movedTo), at });
    const movedTo = await newFiles.find(hash, path);
    report(movedTo);
    if (movedTo !== undefined) return;
    newFiles.seek(hash, path, async (found) => {
      // A delivered notification is not repeated to add the new name.
      if (!isEnded() && (await this.#withdraw('deleted', path, conversation, 'it is known where it went')))
        report(found);
    });
  }

  #publish(path: string, view: SeenFileView, hash: string, draft: ReportDraft): void {
    this.#reports.report(view.conversation, fileScope(path), { hash, since: view.hash }, draft);
  }

  #withdraw(name: 'changed' | 'deleted', path: string, conversation: string, reason: string): Promise<boolean> {
    return this.#deps.publisher.withdraw({ source: 'file', name }, fileScope(path), reason, conversation);
  }
}

/**
 * `none`: the lines are as the conversation knows them. `back`: they are again as they were shown, after a change that
 * was announced.
 */
async function judgeSearched(
  snapshots: Snapshots,
  { part, hash, announced }: SeenState,
  now: Uint8Array,
): Promise<'changed' | 'none' | 'back'> {
  if (part?.searched !== true) return 'changed';
  const [shown, known] = [await snapshots.get(hash), announced && (await snapshots.get(announced))];
  const before = shown && decodeText(shown);
  const changesIn = (bytes: Uint8Array) => {
    const text = decodeText(bytes);
    return before === undefined || text === undefined ? undefined : followLines(before, text, part.ranges)?.changes;
  };
  const changes = changesIn(now);
  const last = known === undefined || known === '' ? '' : changesIn(known);
  if (changes === undefined || changes !== last) return changes === '' ? 'back' : 'changed';
  return 'none';
}
