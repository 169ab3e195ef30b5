// Tests that the editor knows, run through its own tool: the API of extensions has no results of others' tests.
import * as vscode from 'vscode';
import { type Disposable } from '../../base/disposable.ts';
import { describeError, failed, succeeded } from '../../base/errors.ts';
import { type EditorTests } from '../../core/ports/tasks.ts';
import { type Tool } from '../../core/ports/ports.ts';
import { type ToolRegistry } from '../../core/tools/registry.ts';

/** The editor's tool. It asks the user itself too, unless the user has turned that off. */
const RUN_TESTS = 'runTests';

export const editorTests: EditorTests = {
  run: async (wanted, signal) => {
    const stopping = new vscode.CancellationTokenSource();
    const stop = () => stopping.cancel();
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    try {
      const options = { input: wanted, toolInvocationToken: undefined };
      const { content } = await vscode.lm.invokeTool(RUN_TESTS, options, stopping.token);
      return succeeded(
        content.map((part) => (part instanceof vscode.LanguageModelTextPart ? part.value : '')).join(''),
      );
    } catch (error) {
      if (signal.aborted) return failed('cancelled', 'Cancelled by the user.');
      return failed('not_started', `The editor ran no tests: ${describeError(error)}.`);
    } finally {
      signal.removeEventListener('abort', stop);
      stopping.dispose();
    }
  },
};

/** Offers the tool while the editor has its own. The editor does not say when that changes, so `refresh` looks. */
export class OfferedTests implements Disposable {
  readonly #tools: Pick<ToolRegistry, 'register'>;
  readonly #tool: Tool;
  readonly #has: () => boolean;
  #offered: Disposable | undefined;

  constructor(
    tools: Pick<ToolRegistry, 'register'>,
    tool: Tool,
    has = () => vscode.lm.tools.some(({ name }) => name === RUN_TESTS),
  ) {
    this.#tools = tools;
    this.#tool = tool;
    this.#has = has;
  }

  refresh(): void {
    if (this.#has() === (this.#offered !== undefined)) return;
    if (this.#offered === undefined) this.#offered = this.#tools.register([this.#tool]);
    else this.dispose();
  }

  dispose(): void {
    this.#offered?.dispose();
    this.#offered = undefined;
  }
}
