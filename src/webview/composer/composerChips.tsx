// Chips above the composer for queued messages; each can be removed.
import type { ChatHead } from '../../protocol/webview.ts';
import type { Actions } from '../render/actions.ts';
import { Icon, IconButton } from '../render/icons.tsx';
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
              <IconButton
                icon="arrow-up"
                label={ofTranscript.raiseQueuedLabel(shown)}
                title={ofTranscript.raiseQueued}
                run={() => post({ type: 'raise_queued', queued_id: id })}
              />
            )}
            {offers('send_queued') && (
              <IconButton
                icon="zap"
                label={ofTranscript.sendQueuedLabel(shown)}
                title={ofTranscript.sendQueued}
                run={() => post({ type: 'send_queued', queued_id: id })}
              />
            )}
            {offers('withdraw_queued') && (
              <IconButton
                icon="edit"
                label={strings.removeQueuedLabel(shown)}
                title={strings.removeQueued}
                run={() => post({ type: 'withdraw_queued', queued_id: id })}
              />
            )}
          </li>
        );
      })}
    </ul>
  );
}
