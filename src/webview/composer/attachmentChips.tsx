// Chips above the composer for attachments and the active editor, each of which can be removed. Loaded with the first
// one.
import type { EditorChip, EditorContext } from '../../protocol/page/controlsView.ts';
import type { AttachmentView } from '../../protocol/webview.ts';
import type { Actions } from '../render/actions.ts';
import { Icon, IconButton } from '../render/icons.tsx';
import { visibleText } from '../render/visibleText.ts';
import { editorStrings as ofEditor } from '../strings/editorStrings.ts';
import { strings } from '../strings/strings.ts';

interface EditorProperties {
  readonly editor: EditorChip;
  readonly post: Actions['post'];
}

/** The active editor: a click on its name adds or removes the selected text, the cross removes it from requests. */
function EditorChipView({ editor: { path, lines, context }, post }: EditorProperties) {
  const set = (next: EditorContext) => post({ type: 'choose', editor: next });
  const name = `${path.slice(path.lastIndexOf('/') + 1)}${lines === undefined ? '' : `:${lines}`}`;
  const isOff = context === 'off';
  return (
    <li class={`attachment-chip editor-chip${isOff ? ' editor-chip-off' : ''}`}>
      <button
        type="button"
        class="editor-chip-name"
        title={ofEditor.title(path, context)}
        aria-pressed={!isOff}
        onClick={() => set(isOff ? 'file' : context === 'file' ? 'selection' : 'file')}
      >
        <Icon name={isOff ? 'add' : 'file'} />
        <span class="attachment-name">{visibleText(name)}</span>
        {context === 'selection' && lines !== undefined && <span class="queued-state">{ofEditor.withText}</span>}
      </button>
      {!isOff && <IconButton icon="close" label={ofEditor.remove(name)} run={() => set('off')} />}
    </li>
  );
}

interface AttachmentProperties {
  readonly attachments: readonly AttachmentView[];
  readonly editor: EditorChip | null | undefined;
  readonly post: Actions['post'];
}

export function AttachmentChips({ attachments, editor, post }: AttachmentProperties) {
  if (attachments.length === 0 && !editor) return null;
  return (
    <ul class="attachments" aria-label={strings.attachmentList}>
      {editor && <EditorChipView editor={editor} post={post} />}
      {attachments.map(({ id, name, preview }) => (
        <li key={id} class="attachment-chip" title={name}>
          {preview === undefined ? <Icon name="file" /> : <img class="attachment-preview" src={preview} alt="" />}
          <span class="attachment-name">{visibleText(name)}</span>
          <IconButton
            icon="close"
            label={strings.detachLabel(name)}
            title={strings.detach}
            run={() => post({ type: 'detach', id })}
          />
        </li>
      ))}
    </ul>
  );
}
