// The chip with the active editor above the composer: shows what the next request would tell about it.
import { type Clock } from '../../base/clock.ts';
import { type Disposable, DisposableStore } from '../../base/disposable.ts';
import { type ActiveEditor } from '../../core/ports/sources.ts';
import { type Workspace } from '../../core/ports/workspace.ts';
import { mayName } from '../../producers/focus.ts';
import { type EditorChip, type EditorContext } from '../../protocol/page/controlsView.ts';

/** A selection changes with every key. */
const SETTLED_MILLISECONDS = 100;

export interface EditorFocusDeps {
  readonly editor: ActiveEditor;
  readonly workspace: Workspace;
  readonly clock: Clock;
  /** What the shown conversation is notified of. */
  context(): EditorContext;
  show(chip: EditorChip | null): void;
  report(error: unknown): void;
}

export class EditorFocus implements Disposable {
  readonly #deps: EditorFocusDeps;
  readonly #held = new DisposableStore();
  #timer: Disposable | undefined;
  #shown = 'null';

  constructor(deps: EditorFocusDeps) {
    this.#deps = deps;
    this.#held.add(deps.editor.onDidChange(() => this.refresh()));
    this.refresh();
  }

  refresh(): void {
    this.#timer?.dispose();
    this.#timer = this.#deps.clock.after(SETTLED_MILLISECONDS, () => void this.#update().catch(this.#deps.report));
  }

  dispose(): void {
    this.#timer?.dispose();
    this.#held.dispose();
  }

  async #update(): Promise<void> {
    const { editor, workspace } = this.#deps;
    const focused = editor.current();
    const isNamed = focused !== undefined && (await mayName(workspace, focused));
    const { path = '', selection } = focused ?? {};
    const lines = selection && (selection.first === selection.last ? '' : `–${selection.last}`);
    const chip: EditorChip | null = isNamed
      ? { path, ...(selection && { lines: `${selection.first}${lines}` }), context: this.#deps.context() }
      : null;
    if (JSON.stringify(chip) === this.#shown) return;
    this.#shown = JSON.stringify(chip);
    this.#deps.show(chip);
  }
}
