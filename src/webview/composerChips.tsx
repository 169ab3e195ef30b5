// Decides how what waits around the composer is shown: words that are queued, what is attached; each can be taken back.
import type { AttachmentView, ChatHead } from '../protocol/webview.ts';
import { Icon } from './render/icons.tsx';
import { visibleText } from './render/visibleText.ts';
import { strings } from './strings.ts';

const SHOWN = 300;

interface QueuedProperties {
  readonly queued: ChatHead['queued'];
  readonly takeBack: (id: string) => void;
}

/** Always there, so that a screen reader hears of what is added. */
export function QueuedChips({ queued, takeBack }: QueuedProperties) {
  return (
    <ul class="queued" aria-label={strings.queuedList} aria-live="polite">
      {queued.map(({ id, text, attachments }) => {
        const shown = [visibleText(text.slice(0, SHOWN)), ...attachments].filter((part) => part !== '').join(' · ');
        return (
          <li key={id} class="queued-chip" title={shown}>
            <Icon name="clock" />
            <span class="queued-state">{strings.queued}</span>
            <span class="queued-text">{shown}</span>
            <button
              type="button"
              class="icon-button"
              title={strings.takeBack}
              aria-label={strings.takeBackLabel(shown)}
              onClick={() => takeBack(id)}
            >
              <Icon name="close" />
            </button>
          </li>
        );
      })}
    </ul>
  );
}

interface AttachmentProperties {
  readonly attachments: readonly AttachmentView[];
  readonly detach: (id: string) => void;
}

export function AttachmentChips({ attachments, detach }: AttachmentProperties) {
  if (attachments.length === 0) return null;
  return (
    <ul class="attachments" aria-label={strings.attachmentList}>
      {attachments.map(({ id, name, preview }) => (
        <li key={id} class="attachment-chip" title={name}>
          {preview === undefined ? <Icon name="file" /> : <img class="attachment-preview" src={preview} alt="" />}
          <span class="attachment-name">{visibleText(name)}</span>
          <button
            type="button"
            class="icon-button"
            title={strings.detach}
            aria-label={strings.detachLabel(name)}
            onClick={() => detach(id)}
          >
            <Icon name="close" />
          </button>
        </li>
      ))}
    </ul>
  );
}
