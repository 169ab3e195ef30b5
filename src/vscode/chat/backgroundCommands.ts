// Decides what the page is told of background commands, and what each of its buttons for them does.
import { type Disposable, DisposableStore } from '../../base/disposable.ts';
import { type Handle } from '../../core/ports/handles.ts';
import { type Clock, type Logger } from '../../core/ports/ports.ts';
import { type Handles } from '../../core/tools/handles.ts';
import { BY_USER, describeHandleState, isSuccess } from '../../core/tools/handleTexts.ts';
import { type HandleView } from '../../protocol/handlesView.ts';
import { type FromPageHandlers } from '../../protocol/webview.ts';
import { type ChatFrontend } from './chatFrontend.ts';
import { type TerminalMirrors } from './terminalMirror.ts';

export interface HandlesControllerDeps {
  readonly handles: Handles;
  readonly mirrors: TerminalMirrors;
  readonly frontend: ChatFrontend;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The conversation that the chat shows. */
  shown(): string | undefined;
  /** As if the user had written it. */
  send(text: string): Promise<void> | void;
  notice(text: string): void;
}

type HandlesMessage = 'move_to_background' | 'show_terminal' | 'stop_handle' | 'tell_of_handle' | 'hide_handle';

/** Commands print in bursts, and nobody reads faster. */
const REFRESH_AFTER = 200;
/** How long one runs is said in seconds, then in minutes. */
const TICK = 5000;
const OUTPUT = 4000;
const TOLD = 2000;
/** More would fill the page; the newest count. */
const MOST = 20;

export class HandlesController implements Disposable {
  readonly #deps: HandlesControllerDeps;
  readonly #held = new DisposableStore();
  readonly #hidden = new Set<Handle>();
  #timer: { readonly due: number; readonly timer: Disposable } | undefined;
  #drawing: Promise<void> = Promise.resolve();
  #shown: string | undefined;
  #drawn = '[]';

  constructor(deps: HandlesControllerDeps) {
    this.#deps = deps;
    this.#held.add(
      deps.handles.onDidChange(({ handle }) => {
        if (handle.conversation === deps.shown() && handle.name !== undefined) this.#refreshIn(REFRESH_AFTER);
      }),
    );
  }

  /** The chat may show another conversation by now. */
  chatChanged(): void {
    if (this.#deps.shown() !== this.#shown) this.#refreshIn(0);
  }

  readonly handlers: Pick<FromPageHandlers, HandlesMessage> = {
    move_to_background: ({ call }) => {
      const shown = this.#deps.shown();
      if (shown === undefined || !this.#deps.handles.moveToBackground(shown, call)) this.#gone();
    },
    show_terminal: ({ call }) => this.#with(call, (handle) => void this.#deps.mirrors.show(handle)),
    stop_handle: ({ call }) => this.#with(call, (handle) => handle.stop(BY_USER)),
    tell_of_handle: ({ call }) => this.#with(call, (handle) => this.#tell(handle)),
    hide_handle: ({ call }) =>
      this.#with(call, (handle) => {
        this.#hidden.add(handle);
        this.#refreshIn(0);
      }),
  };

  dispose(): void {
    this.#timer?.timer.dispose();
    this.#held.dispose();
  }

  async #with(call: string, action: (handle: Handle) => Promise<void> | void): Promise<void> {
    const shown = this.#deps.shown();
    const handle = shown === undefined ? undefined : this.#deps.handles.byRun(shown, call);
    if (handle === undefined) this.#gone();
    else await action(handle);
  }

  #gone(): void {
    this.#deps.notice('This command does not run any more.');
  }

  async #tell(handle: Handle): Promise<void> {
    const lines = await handle.lastLines(TOLD);
    const state = `Look at the background command “${handle.name ?? ''}”: ${describeHandleState(handle)}.`;
    await this.#deps.send(lines === '' ? state : `${state}\nIts last lines:\n\n${quoted(lines)}`);
  }

  #refreshIn(milliseconds: number): void {
    const due = this.#deps.clock.now() + milliseconds;
    if (this.#timer !== undefined && this.#timer.due <= due) return;
    this.#timer?.timer.dispose();
    const report = (error: unknown) => this.#deps.logger.error('background commands could not be shown', error);
    const timer = this.#deps.clock.after(milliseconds, () => {
      this.#timer = undefined;
      this.#drawing = this.#drawing.then(() => this.#draw()).catch(report);
    });
    this.#timer = { due, timer };
  }

  async #draw(): Promise<void> {
    const { handles, frontend } = this.#deps;
    const shown = this.#deps.shown();
    const all = shown === undefined ? [] : handles.list(shown);
    const listed = all.filter((handle) => isListed(handle) && !this.#hidden.has(handle)).slice(-MOST);
    const views = await Promise.all(listed.map(view));
    // Meanwhile another one may be shown: it is drawn in a moment.
    if (this.#deps.shown() !== shown) return;
    this.#shown = shown;
    const drawn = JSON.stringify(views);
    if (drawn !== this.#drawn) frontend.setHead({ handles: views });
    this.#drawn = drawn;
    if (listed.some((handle) => !handle.hasEnded)) this.#refreshIn(TICK);
  }
}

/** Not one of which only the output is kept: it never was in the background. */
function isListed(handle: Handle): boolean {
  return !handle.isOutputOnly;
}

async function view(handle: Handle & { readonly name: string }): Promise<HandleView> {
  const { state, run: call, name } = handle;
  return {
    call,
    name,
    command: handle.process.command,
    state: state !== 'stopped' ? state : isSuccess(handle.process.status) ? 'stopped' : 'failed',
    detail: describeHandleState(handle),
    output: await handle.lastLines(OUTPUT),
  };
}

/** What it printed cannot end the quote. */
function quoted(lines: string): string {
  return lines
    .split('\n')
    .map((line) => `    ${line}`)
    .join('\n');
}
