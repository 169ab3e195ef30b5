// The page, for any host: connects messages, reducer and rendering, and reports errors to the host.
import { render } from 'preact';
import { ignore } from '../base/async.ts';
import { describeError } from '../base/errors.ts';
import type { FromPage, Obstacle, ToPage } from '../protocol/webview.ts';
import { App } from './app.tsx';
import { MediaReader } from './cards/mediaReader.ts';
import { FailedPage, Restarts, RootBoundary } from './restarts.tsx';
import { initialState, reduce } from './state.ts';
import type { FileDiff } from '../protocol/page/diffView.ts';

const DRAFT_MILLISECONDS = 200;

/** Transports the messages between the page and its host. */
export interface PageHost {
  readonly post: (message: FromPage) => void;
  /** Called once; `receive` gets every message of the host, and `changed` is called when `status` has changed. */
  listen(receive: (message: ToPage) => void, changed: () => void): void;
  /** The messages that the host handles; undefined: all. Controls that need others are hidden. */
  readonly offers?: ReadonlySet<FromPage['type']>;
  /** The page itself shows the conversation's title, since nothing around it does. */
  readonly standsAlone?: boolean;
  /** What is wrong with the connection; undefined if nothing is. */
  readonly status?: () => Obstacle | undefined;
}

export function startPage(host: PageHost): void {
  const { post } = host;

  /** A page that fails repeatedly must not flood the host. */
  let failures = 0;
  function report(error: unknown): void {
    if (failures++ < 20) post({ type: 'failed', message: describeWithStack(error).slice(0, 10_000) });
  }
  window.addEventListener('error', (event) => report(event.error ?? event.message));
  window.addEventListener('unhandledrejection', (event) => report(event.reason));

  const diffs = new DiffReader(post);
  const media = new MediaReader(post);
  const restarts = new Restarts(() => performance.now());
  let root = document.getElementById('root');
  let state = initialState;
  let drawing = false;
  /** The page failed repeatedly: nothing is rendered until the user restarts the page. */
  let givenUp = false;
  /** The page has failed, and a restart or the failure page is scheduled. */
  let failing = false;

  function draw(): void {
    drawing = false;
    if (root === null || givenUp) return;
    try {
      render(
        <RootBoundary onFail={fail}>
          <App
            state={state}
            post={post}
            keepDraft={keepDraft}
            readDiff={(call) => diffs.read(call)}
            readMedia={(hash) => media.read(hash)}
            offers={host.offers}
            standsAlone={host.standsAlone === true}
            status={host.status?.()}
          />
        </RootBoundary>,
        root,
      );
    } catch (error) {
      fail(error);
    }
  }

  function fail(error: unknown): void {
    report(error);
    if (failing) return;
    failing = true;
    const next = restarts.next() === 'restart' ? restart : giveUp;
    // Later, because this may run during the render that failed.
    requestAnimationFrame(next);
  }

  /** Starts over like a new page: the host sends the conversation and the draft again. */
  function restart(): void {
    sendDraft();
    renewRoot();
    [givenUp, failing] = [false, false];
    state = initialState;
    draw();
    post({ type: 'ready' });
  }

  function giveUp(): void {
    renewRoot();
    [givenUp, failing] = [true, false];
    const again = () => {
      restarts.reset();
      restart();
    };
    if (root !== null) render(<FailedPage restart={again} />, root);
  }

  /** The DOM left by a failed render cannot be updated safely. */
  function renewRoot(): void {
    const fresh = document.createElement('div');
    fresh.id = 'root';
    root?.replaceWith(fresh);
    root = fresh;
  }

  let draft: { text: string; timer: number; conversation: string | null } | undefined;

  /** Sends the draft to the host shortly after each change, and at the latest when the page closes. */
  function keepDraft(text: string): void {
    clearTimeout(draft?.timer);
    const conversation = state.head?.conversation ?? null;
    draft = { text, conversation, timer: window.setTimeout(sendDraft, text === '' ? 0 : DRAFT_MILLISECONDS) };
  }

  function sendDraft(): void {
    if (draft === undefined) return;
    const { timer, ...rest } = draft;
    clearTimeout(timer);
    post({ type: 'draft', ...rest });
    draft = undefined;
  }
  window.addEventListener('pagehide', sendDraft);

  // The page is rendered at most once a frame.
  function drawSoon(): void {
    if (!drawing) requestAnimationFrame(draw);
    drawing = true;
  }

  function receive(message: ToPage): void {
    if (message.type === 'sound') {
      // VS Code keeps messages for a closed page and gives them to the next one, where the sound would come too late.
      if (state.head !== null) playSound();
      return;
    }
    if (message.type === 'diff') {
      diffs.resolve(message.call, message.files);
      return;
    }
    if (message.type === 'media') {
      media.resolve(message.hash, message.data);
      return;
    }
    try {
      const { snapshotRequests } = state;
      if (message.type === 'snapshot') sendDraft();
      state = reduce(state, message);
      if (state.snapshotRequests !== snapshotRequests) post({ type: 'ready' });
    } catch (error) {
      fail(error);
      return;
    }
    drawSoon();
  }

  host.listen(receive, drawSoon);
  draw();
  post({ type: 'ready' });
}

function describeWithStack(error: unknown): string {
  return error instanceof Error && error.stack !== undefined
    ? `${error.message}\n${error.stack}`
    : describeError(error);
}

/** Requests the diffs of calls from the host and caches them: the diff of an ended call never changes. */
class DiffReader {
  readonly #post: (message: FromPage) => void;
  readonly #asked = new Map<string, Promise<readonly FileDiff[]>>();
  readonly #waiting = new Map<string, (files: readonly FileDiff[]) => void>();

  constructor(post: (message: FromPage) => void) {
    this.#post = post;
  }

  read(call: string): Promise<readonly FileDiff[]> {
    const asked = this.#asked.get(call);
    if (asked !== undefined) return asked;
    const { promise, resolve } = Promise.withResolvers<readonly FileDiff[]>();
    this.#asked.set(call, promise);
    this.#waiting.set(call, resolve);
    this.#post({ type: 'read_diff', tool_call_id: call });
    return promise;
  }

  resolve(call: string, files: readonly FileDiff[]): void {
    this.#waiting.get(call)?.(files);
    this.#waiting.delete(call);
  }
}

const NOTES = [660, 880];
const SECONDS = 0.12;

/** Plays a short sound that is generated here, without a file. */
function playSound(): void {
  const context = new AudioContext();
  // Browsers suspend it until the user has interacted with the page.
  void context.resume().catch(ignore);
  NOTES.forEach((frequency, index) => {
    const tone = context.createOscillator();
    const volume = context.createGain();
    const start = context.currentTime + index * SECONDS;
    tone.frequency.value = frequency;
    volume.gain.setValueAtTime(0.08, start);
    volume.gain.exponentialRampToValueAtTime(0.001, start + SECONDS);
    tone.connect(volume).connect(context.destination);
    tone.start(start);
    tone.stop(start + SECONDS);
  });
  setTimeout(() => void context.close().catch(ignore), 1000);
}
