// Restarts the page when rendering it as a whole fails: a few times automatically, then at the user's request.
import { Component, type ComponentChildren } from 'preact';
import { strings } from './strings/strings.ts';

const MOST_RESTARTS = 3;
/** A page that ran this long since its last restart has recovered. */
const RECOVERED_MILLISECONDS = 60_000;

/** Counts consecutive failures. */
export class Restarts {
  readonly #now: () => number;
  #count = 0;
  #last = Number.NEGATIVE_INFINITY;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** What to do after one more failure. */
  next(): 'restart' | 'give_up' {
    if (this.#now() - this.#last > RECOVERED_MILLISECONDS) this.#count = 0;
    this.#last = this.#now();
    this.#count += 1;
    return this.#count > MOST_RESTARTS ? 'give_up' : 'restart';
  }

  /** Called when the user restarts the page. */
  reset(): void {
    this.#count = 0;
  }
}

interface Properties {
  readonly onFail: (error: unknown) => void;
  readonly children: ComponentChildren;
}

/** Renders nothing once a child has failed. */
export class RootBoundary extends Component<Properties, { readonly failed: boolean }> {
  override state = { failed: false };

  override componentDidCatch(error: unknown): void {
    this.setState({ failed: true });
    this.props.onFail(error);
  }

  override render(): ComponentChildren {
    return this.state.failed ? null : this.props.children;
  }
}

/** Shown when the page fails repeatedly. */
export function FailedPage({ restart }: { readonly restart: () => void }) {
  return (
    <main class="chat">
      <div class="obstacle level-error" role="alert">
        <div>
          <p>{strings.pageFailed}</p>
          <p class="next-step">{strings.pageFailedNext}</p>
          <button type="button" class="secondary" onClick={restart}>
            {strings.restartPage}
          </button>
        </div>
      </div>
    </main>
  );
}
