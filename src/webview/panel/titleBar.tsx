// The title bar of a page outside VS Code, whose view has these itself: list of conversations, title and new chat.
import type { ChatHead } from '../../protocol/webview.ts';
import { panelStrings as strings } from '../strings/panelStrings.ts';
import { useActions } from '../render/actions.ts';
import { Icon, IconButton } from '../render/icons.tsx';
import { visibleText } from '../render/visibleText.ts';

interface Properties {
  readonly head: ChatHead;
  readonly listing: boolean;
  readonly list: () => void;
}

export function TitleBar({ head, listing, list }: Properties) {
  const { post } = useActions();
  return (
    <header class="title-bar">
      <button
        type="button"
        class="icon-button"
        title={strings.conversations}
        aria-label={strings.conversations}
        aria-expanded={listing}
        onClick={list}
      >
        <Icon name="list-tree" />
      </button>
      <span class="title-bar-text">
        <span class="title-bar-title">{head.title === '' ? strings.newChat : visibleText(head.title)}</span>
        {head.folder !== undefined && (
          <span class="title-bar-folder" title={strings.folder(head.folder)}>
            {visibleText(head.folder)}
          </span>
        )}
      </span>
      <IconButton icon="add" label={strings.newChat} run={() => post({ type: 'new_chat' })} />
    </header>
  );
}
