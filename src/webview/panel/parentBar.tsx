// Shows which conversation started a subagent, or which one a fork comes from, with a button that opens it.
import { useState } from 'preact/hooks';
import type { ForkOrigin } from '../../protocol/page/conversationsView.ts';
import type { ChatHead } from '../../protocol/webview.ts';
import { useActions } from '../render/actions.ts';
import { Icon, IconButton } from '../render/icons.tsx';
import { visibleText } from '../render/visibleText.ts';
import { panelStrings } from '../strings/panelStrings.ts';
import { strings } from '../strings/strings.ts';

export function ParentBar({ parent }: { readonly parent: NonNullable<ChatHead['parent']> }) {
  const { post } = useActions();
  const title = parent.title === '' ? strings.otherConversation : visibleText(parent.title);
  return (
    <nav class="parent-bar" aria-label={strings.openParent}>
      <Icon name="fork" />
      <span class="parent-title">{strings.parentOf(title)}</span>
      <button
        type="button"
        class="link"
        title={strings.openParent}
        aria-label={strings.openParent}
        onClick={() => post({ type: 'open_conversation', id: parent.id })}
      >
        {strings.open}
      </button>
    </nav>
  );
}

/** Give it the conversation as key: a closed bar stays closed only for that one. */
export function OriginBar({ origin }: { readonly origin: ForkOrigin }) {
  const { post, offers } = useActions();
  const [closed, setClosed] = useState(false);
  if (closed) return null;
  const { id, request, title } = origin;
  return (
    <section class="parent-bar origin-bar" aria-label={panelStrings.forkLabel}>
      <Icon name="fork" />
      <p class="origin-text">
        {panelStrings.forkOf(title === '' ? strings.otherConversation : visibleText(title))}
        {describeLeft(origin) !== '' && (
          <span class="origin-left"> {panelStrings.leftThere(describeLeft(origin))}</span>
        )}
      </p>
      <span class="origin-buttons">
        <button type="button" class="link" onClick={() => post({ type: 'open_conversation', id })}>
          {panelStrings.openOriginal}
        </button>
        {request !== undefined && offers('restore') && (
          <button
            type="button"
            class="link"
            title={panelStrings.restoreOriginal}
            onClick={() => post({ type: 'restore', request, conversation: id })}
          >
            {panelStrings.restoreFiles}
          </button>
        )}
      </span>
      <IconButton icon="close" label={panelStrings.close} run={() => setClosed(true)} />
    </section>
  );
}

/** Unreviewed changes and running commands; empty if there are none. */
export function describeLeft({ unreviewed, commands }: Pick<ForkOrigin, 'unreviewed' | 'commands'>): string {
  return [
    ...(unreviewed === undefined ? [] : [panelStrings.unreviewed(unreviewed)]),
    ...(commands === undefined ? [] : [panelStrings.runningCommands(commands)]),
  ].join(', ');
}
