// The CodeLenses *Keep* and *Undo* above each changed part of a file.
import * as vscode from 'vscode';
import { type Disposable } from '../../base/disposable.ts';
import { COMMANDS } from '../ids.ts';

/** By the URI of the document. `start`: the line, counted from 0, at which a changed part begins. */
type Parts = ReadonlyMap<string, readonly { readonly start: number }[]>;

export class ReviewLenses implements vscode.CodeLensProvider, Disposable {
  readonly #onDidChange = new vscode.EventEmitter<void>();
  readonly #registration: vscode.Disposable;
  #parts: Parts = new Map();

  constructor() {
    this.#registration = vscode.languages.registerCodeLensProvider({ pattern: '**/*' }, this);
  }

  readonly onDidChangeCodeLenses = this.#onDidChange.event;

  update(parts: Parts): void {
    if (parts.size === 0 && this.#parts.size === 0) return;
    this.#parts = parts;
    this.#onDidChange.fire();
  }

  provideCodeLenses(document: vscode.TextDocument): vscode.CodeLens[] {
    const { uri } = document;
    const parts = this.#parts.get(uri.toString()) ?? [];
    return parts.flatMap(({ start: line }) => {
      const range = new vscode.Range(line, 0, line, 0);
      const lens = (title: string, command: string) =>
        new vscode.CodeLens(range, { title, command, arguments: [line, uri.toString()] });
      return [
        lens(`$(check) ${vscode.l10n.t('Keep')}`, COMMANDS.keepChange),
        lens(`$(discard) ${vscode.l10n.t('Undo')}`, COMMANDS.undoChange),
      ];
    });
  }

  dispose(): void {
    this.#registration.dispose();
    this.#onDidChange.dispose();
  }
}
