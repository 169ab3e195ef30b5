// Shows which conversation started a subagent, with a button that opens it.
import type { ChatHead } from '../../protocol/webview.ts';
import { useActions } from '../render/actions.ts';
import { Icon } from '../render/icons.tsx';
import { visibleText } from '../render/visibleText.ts';
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
