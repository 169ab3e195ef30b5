// The background commands of the conversation that a page shows.
import { type Clock } from '../base/clock.ts';
import { type Disposable } from '../base/disposable.ts';
import { describeError } from '../base/errors.ts';
import { askAboutHandle } from '../core/frontend/handleViews.ts';
import { type PluginClient } from '../plugins/client/pluginClient.ts';
import { type LogEvent } from '../protocol/event.ts';
import { type HandleView } from '../protocol/page/handlesView.ts';

/** Events come in bursts, so they are collected for this long. */
const REFRESH_AFTER = 200;
/** Output and running time have no events, so they are polled. */
const TICK = 3000;
const SENT_OUTPUT = 2000;
/** Events after which a command may have started or ended. */
const AFFECTING: ReadonlySet<LogEvent['type']> = new Set(['tool_call_response', 'handle_started', 'turn_ended']);

export interface PageCommandsDeps {
  readonly clock: Clock;
  readonly client: Pick<PluginClient, 'request' | 'log'>;
  /** Whether the page is connected, so that somebody may see the commands. */
  isConnected(): boolean;
  show(views: readonly HandleView[]): void;
}

export class PageCommands implements Disposable {
  readonly #deps: PageCommandsDeps;
  readonly #hidden = new Set<string>();
  #conversation: string | undefined;
  #timer: Disposable | undefined;
  #views: readonly HandleView[] = [];

  constructor(deps: PageCommandsDeps) {
    this.#deps = deps;
  }

  showOf(conversation: string | undefined): void {
    this.#conversation = conversation;
    this.#draw([]);
    this.refresh(0);
  }

  appended({ type }: LogEvent): void {
    if (AFFECTING.has(type) || this.#isRunning) this.refresh(REFRESH_AFTER);
  }

  refresh(milliseconds: number): void {
    this.#timer?.dispose();
    this.#timer = this.#deps.clock.after(milliseconds, () => {
      this.#read().catch((error: unknown) => this.#deps.client.log('warn', describeError(error)));
    });
  }

  hide(call: string): void {
    this.#hidden.add(call);
    this.#draw(this.#views);
  }

  /** The user's message to the model about a command. */
  askAbout(call: string): string | undefined {
    const view = this.#views.find((one) => one.call === call);
    return view && askAboutHandle(view.name, view.detail, view.output.slice(-SENT_OUTPUT));
  }

  dispose(): void {
    this.#timer?.dispose();
  }

  get #isRunning(): boolean {
    return this.#views.some(({ state }) => state === 'running' || state === 'waiting');
  }

  async #read(): Promise<void> {
    const conversation = this.#conversation;
    if (conversation === undefined) return;
    const { data } = await this.#deps.client.request('list_commands', { conversation });
    if (this.#conversation !== conversation) return;
    this.#draw(data.map(({ tool_call_id: call, ...rest }) => ({ call, ...rest })));
    if (this.#isRunning && this.#deps.isConnected()) this.refresh(TICK);
  }

  #draw(views: readonly HandleView[]): void {
    const shown = views.filter(({ call }) => !this.#hidden.has(call));
    if (JSON.stringify(shown) !== JSON.stringify(this.#views)) this.#deps.show(shown);
    this.#views = shown;
  }
}
