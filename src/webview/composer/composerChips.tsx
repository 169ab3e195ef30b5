// Chips above the composer for queued messages and attachments; each can be removed.
import type { AttachmentView, ChatHead } from '../../protocol/webview.ts';
import type { Actions } from '../render/actions.ts';
import { Icon } from '../render/icons.tsx';
import { visibleText } from '../render/visibleText.ts';
import { strings } from '../strings/strings.ts';
import { transcriptStrings as ofTranscript } from '../strings/transcriptStrings.ts';

const SHOWN = 300;

interface QueuedProperties {
  readonly queued: ChatHead['queued'];
  readonly actions: Pick<Actions, 'post' | 'offers'>;
}

/** Rendered even when empty, so that screen readers announce what is added. */
export function QueuedChips({ queued, actions: { post, offers } }: QueuedProperties) {
  return (
    <ul class="queued" aria-label={strings.queuedList} aria-live="polite">
      {queued.map(({ id, text, attachments }, index) => {
        const shown = [visibleText(text.slice(0, SHOWN)), ...attachments].filter((part) => part !== '').join(' · ');
        return (
          <li key={id} class="queued-chip" title={shown}>
            <Icon name="clock" />
            <span class="queued-state">{strings.queued}</span>
            <span class="queued-text">{shown}</span>
            {index > 0 && offers('raise_queued') && (
              <button
                type="button"
                class="icon-button"
                title={ofTranscript.raiseQueued}
                aria-label={ofTranscript.raiseQueuedLabel(shown)}
                onClick={() => post({ type: 'raise_queued', id })}
              >
                <Icon name="arrow-up" />
              </button>
            )}
            {offers('send_queued') && (
              <button
                type="button"
                class="icon-button"
                title={ofTranscript.sendQueued}
                aria-label={ofTranscript.sendQueuedLabel(shown)}
                onClick={() => post({ type: 'send_queued', id })}
              >
                <Icon name="zap" />
              </button>
            )}
            {offers('take_back') && (
              <button
                type="button"
                class="icon-button"
                title={strings.removeQueued}
                aria-label={strings.removeQueuedLabel(shown)}
                onClick={() => post({ type: 'take_back', id })}
              >
                <Icon name="edit" />
              </button>
            )}
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
