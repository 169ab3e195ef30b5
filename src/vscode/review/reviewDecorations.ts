// Marks the agent's lines in normal editors: colours, the overview ruler, and a hover with the former text.
import * as vscode from 'vscode';
import { type Disposable } from '../../base/disposable.ts';
import { type Hunk } from '../../core/checkpoints/hunks.ts';
import { COMMANDS } from '../ids.ts';
import { MARK_KINDS, type Mark, marksOf } from './reviewMarks.ts';

const COLOURS = { added: 'added', changed: 'modified', removed: 'deleted', removedAtEnd: 'deleted' } as const;
const BORDERS = { added: '0 0 0 2px', changed: '0 0 0 2px', removed: '2px 0 0 0', removedAtEnd: '0 0 2px 0' } as const;

export class ReviewDecorations implements Disposable {
  readonly #types = MARK_KINDS.map((kind) => ({
    kind,
    type: vscode.window.createTextEditorDecorationType({
      isWholeLine: true,
      // Lines that the user adds next to these are not marked, not even until the next comparison.
      rangeBehavior: vscode.DecorationRangeBehavior.ClosedClosed,
      overviewRulerLane: vscode.OverviewRulerLane.Left,
      overviewRulerColor: new vscode.ThemeColor(`editorOverviewRuler.${COLOURS[kind]}Foreground`),
      borderColor: new vscode.ThemeColor(`editorGutter.${COLOURS[kind]}Background`),
      borderStyle: 'solid',
      borderWidth: BORDERS[kind],
      ...(COLOURS[kind] !== 'deleted' && {
        backgroundColor: new vscode.ThemeColor('diffEditor.insertedLineBackground'),
      }),
    }),
  }));
  readonly #listeners = [
    vscode.window.onDidChangeVisibleTextEditors(() => this.#draw()),
    // It may change after the editor that it shows.
    vscode.window.tabGroups.onDidChangeTabs(() => this.#draw()),
  ];
  #hunks: ReadonlyMap<string, readonly Hunk[]> = new Map();
  /** The editors that have marks. */
  #drawn: ReadonlySet<vscode.TextEditor> = new Set();

  /** The agent's hunks by the URI of the document. */
  update(hunks: ReadonlyMap<string, readonly Hunk[]>): void {
    this.#hunks = hunks;
    this.#draw();
  }

  dispose(): void {
    for (const listener of this.#listeners) listener.dispose();
    for (const { type } of this.#types) type.dispose();
  }

  #draw(): void {
    if (this.#hunks.size === 0 && this.#drawn.size === 0) return;
    const drawn = new Set<vscode.TextEditor>();
    for (const editor of vscode.window.visibleTextEditors) {
      const { document } = editor;
      const hunks = (isNormal(editor) ? this.#hunks.get(document.uri.toString()) : undefined) ?? [];
      if (hunks.length > 0) drawn.add(editor);
      else if (!this.#drawn.has(editor)) continue;
      const marks = marksOf(hunks, document.lineCount);
      for (const { kind, type } of this.#types) {
        const ofKind = marks.filter((mark) => mark.kind === kind);
        editor.setDecorations(
          type,
          ofKind.map((mark) => ({
            range: new vscode.Range(mark.first, 0, mark.last, 0),
            hoverMessage: describeMark(mark, document),
          })),
        );
      }
    }
    this.#drawn = drawn;
  }
}

/** A diff editor shows the changes itself. */
function isNormal({ viewColumn, document }: vscode.TextEditor): boolean {
  const input = vscode.window.tabGroups.all.find((group) => group.viewColumn === viewColumn)?.activeTab?.input;
  return input instanceof vscode.TabInputText && input.uri.toString() === document.uri.toString();
}

function describeMark({ kind, first, before, left }: Mark, document: vscode.TextDocument): vscode.MarkdownString {
  const titles = {
    added: vscode.l10n.t('Added by Earshot'),
    changed: vscode.l10n.t('Changed by Earshot; it was:'),
    removed: vscode.l10n.t('Removed by Earshot:'),
    removedAtEnd: vscode.l10n.t('Removed by Earshot:'),
  };
  const link = (title: string, command: string) => {
    const given = encodeURIComponent(JSON.stringify([first, document.uri.toString()]));
    return `[${title}](command:${command}?${given})`;
  };
  const text = new vscode.MarkdownString(titles[kind]);
  text.isTrusted = { enabledCommands: [COMMANDS.keepChange, COMMANDS.undoChange] };
  if (kind !== 'added') text.appendCodeblock(before, document.languageId);
  if (left > 0)
    text.appendMarkdown(
      `\n\n${left === 1 ? vscode.l10n.t('… and 1 more line') : vscode.l10n.t('… and {0} more lines', left)}`,
    );
  const links = [link(vscode.l10n.t('Keep'), COMMANDS.keepChange), link(vscode.l10n.t('Undo'), COMMANDS.undoChange)];
  return text.appendMarkdown(`\n\n${links.join(' · ')}`);
}
