// Limits a rendering failure to one transcript item, whose text stays readable and can be copied.
import { Component, type ComponentChildren } from 'preact';
import { describeError } from '../../base/errors.ts';
import { wholeText } from '../growing.ts';
import type { PageItem } from '../state.ts';
import { strings } from '../strings/strings.ts';
import { type Actions, useActions } from './actions.ts';
import { CopyButton } from './copyButton.tsx';
import { Icon } from './icons.tsx';

/** A failed item is rendered again when it changes, but not for each piece of a long answer. */
const MOST_TRIES = 3;

interface Properties {
  readonly item: PageItem;
  readonly children: ComponentChildren;
}

export function ItemBoundary({ item, children }: Properties) {
  const { post } = useActions();
  return (
    <Boundary item={item} post={post}>
      {children}
    </Boundary>
  );
}

interface Failures {
  readonly failed: PageItem | null;
  readonly count: number;
}

class Boundary extends Component<Properties & { readonly post: Actions['post'] }, Failures> {
  override state: Failures = { failed: null, count: 0 };

  override componentDidCatch(error: unknown): void {
    this.setState({ failed: this.props.item, count: this.state.count + 1 });
    const message = `an item of the transcript (${this.props.item.type}) could not be drawn: ${describeError(error)}`;
    this.props.post({ type: 'failed', message: message.slice(0, 10_000) });
  }

  override render(): ComponentChildren {
    const { item, children } = this.props;
    const { failed, count } = this.state;
    const again = failed !== item && count < MOST_TRIES;
    return failed === null || again ? children : <Undrawn item={item} />;
  }
}

function Undrawn({ item }: { readonly item: PageItem }) {
  return (
    <div class="notice level-error">
      <Icon name="error" />
      <div>
        <p>{strings.itemFailed}</p>
        <details>
          <summary>{strings.itemText}</summary>
          <pre tabIndex={0}>{rawTextOf(item)}</pre>
        </details>
        <CopyButton label={strings.copy} read={() => rawTextOf(item)} />
      </div>
    </div>
  );
}

export function rawTextOf(item: PageItem): string {
  switch (item.type) {
    case 'answer':
      return wholeText(item.text);
    case 'tool':
      return [`${item.name} ${JSON.stringify(item.arguments)}`, wholeText(item.output)].join('\n');
    case 'request':
      return item.text;
    case 'notice':
      return [item.text, item.nextStep ?? ''].join('\n').trim();
  }
}
