// The list of background commands on the chat page, and the handlers of its buttons.
import * as vscode from 'vscode';
import { type Disposable, DisposableStore } from '../../base/disposable.ts';
import { type ChatFrontend } from '../../core/frontend/chatFrontend.ts';
import { type Handle } from '../../core/ports/handles.ts';
import { type Clock, type Logger } from '../../core/ports/ports.ts';
import { type Handles } from '../../core/tools/handles.ts';
import { askAboutHandle, viewHandles } from '../../core/frontend/handleViews.ts';
import { BY_USER, describeHandleState } from '../../core/tools/handleTexts.ts';
import { type HandlesHandlers, type ShownChat } from './pageHandlers.ts';
import { type TerminalMirrors } from './terminalMirror.ts';

export interface HandlesControllerDeps {
  readonly handles: Handles;
  readonly mirrors: TerminalMirrors;
  readonly frontend: ChatFrontend;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly chat: ShownChat;
  /** Sends a message as the user. */
  send(text: string): Promise<void> | void;
  notice(text: string): void;
  /** Tokens that a conversation of this window has used; null if unknown. */
  tokensOf(conversation: string): number | null;
}

/** Commands print in bursts, so changes are collected for this long. */
const REFRESH_AFTER = 200;
/** How often the displayed running times are updated. */
const TICK = 5000;
const SENT_OUTPUT = 2000;

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
        if (handle.conversation === deps.chat.shown && handle.name !== undefined) this.#refreshIn(REFRESH_AFTER);
      }),
    );
    this.#held.add(
      deps.chat.onDidRefresh(() => {
        if (deps.chat.shown !== this.#shown) this.#refreshIn(0);
      }),
    );
  }

  readonly handlers: HandlesHandlers = {
    move_to_background: ({ call }) => {
      const shown = this.#deps.chat.shown;
      if (shown === undefined || !this.#deps.handles.moveToBackground(shown, call)) this.#showEnded();
    },
    show_terminal: ({ call }) => this.#with(call, (handle) => void this.#deps.mirrors.show(handle)),
    stop_handle: ({ call }) => this.#with(call, (handle) => handle.stop(BY_USER)),
    tell_of_handle: ({ call }) => this.#with(call, (handle) => this.#sendState(handle)),
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
    const shown = this.#deps.chat.shown;
    const handle = shown === undefined ? undefined : this.#deps.handles.byRun(shown, call);
    if (handle === undefined) this.#showEnded();
    else await action(handle);
  }

  #showEnded(): void {
    this.#deps.notice(vscode.l10n.t('This command is no longer running.'));
  }

  async #sendState(handle: Handle): Promise<void> {
    const lines = await handle.lastLines(SENT_OUTPUT);
    await this.#deps.send(askAboutHandle(handle.name ?? '', describeHandleState(handle), lines));
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
    const shown = this.#deps.chat.shown;
    const all = shown === undefined ? [] : handles.list(shown);
    const listed = all.filter((handle) => !this.#hidden.has(handle));
    const views = await viewHandles(listed, (id) => this.#deps.tokensOf(id));
    // If another conversation is shown now, its own refresh draws it.
    if (this.#deps.chat.shown !== shown) return;
    this.#shown = shown;
    const drawn = JSON.stringify(views);
    if (drawn !== this.#drawn) frontend.setHead({ handles: views });
    this.#drawn = drawn;
    if (views.some(({ state }) => state === 'running' || state === 'waiting')) this.#refreshIn(TICK);
  }
}
