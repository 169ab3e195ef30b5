// Decides what happens to what the user types: kept over reloads, sent with Enter, never lost.
import type { Ref } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { useActions } from './render/actions.ts';
import { Icon } from './render/icons.tsx';
import { strings } from './strings.ts';

const LIMIT = 1_000_000;

interface Properties {
  readonly draft: string;
  readonly setDraft: (text: string) => void;
  readonly running: boolean;
  readonly canSend: boolean;
  /** What the user sent last, for arrow up in an empty composer. */
  readonly recall: () => string | undefined;
  readonly field: Ref<HTMLTextAreaElement>;
}

export function Composer({ draft, setDraft, running, canSend, recall, field }: Properties) {
  const actions = useActions();
  const [refused, setRefused] = useState(false);
  useEffect(() => setRefused(false), [running, canSend]);

  const empty = draft.trim() === '';
  const tooLong = draft.length > LIMIT;
  const hint = hintFor({ canSend, tooLong, waits: running && refused && !empty });
  const send = () => {
    if (empty) return;
    if (running || !canSend || tooLong) {
      setRefused(true);
      return;
    }
    actions.post({ type: 'send', text: draft });
    setDraft('');
  };
  const onKeyDown = (event: KeyboardEvent) => {
    // While a word is being composed, Enter belongs to the input method.
    if (event.isComposing) return;
    if (event.key === 'Enter' && !event.shiftKey && !event.altKey) {
      event.preventDefault();
      send();
    } else if (event.key === 'ArrowUp' && draft === '') {
      const last = recall();
      if (last === undefined) return;
      event.preventDefault();
      setDraft(last);
    }
  };

  return (
    <div class="composer">
      {hint !== undefined && (
        <p class="hint" id="composer-hint" role="status">
          {hint}
        </p>
      )}
      <div class={canSend ? 'field' : 'field closed'}>
        <textarea
          ref={field}
          rows={1}
          value={draft}
          placeholder={placeholderFor(running, canSend)}
          aria-label={strings.composer}
          {...(hint === undefined ? {} : { 'aria-describedby': 'composer-hint' })}
          onInput={(event) => setDraft(event.currentTarget.value)}
          onKeyDown={onKeyDown}
        />
        {running ? (
          <button
            type="button"
            class="send stop"
            title={strings.stopTitle}
            aria-label={strings.stop}
            onClick={() => actions.post({ type: 'stop' })}
          >
            <Icon name="debug-stop" />
          </button>
        ) : (
          <button
            type="button"
            class="send"
            disabled={empty || !canSend}
            title={strings.sendTitle}
            aria-label={strings.send}
            onClick={send}
          >
            <Icon name="send" />
          </button>
        )}
      </div>
    </div>
  );
}

function hintFor(now: { canSend: boolean; tooLong: boolean; waits: boolean }): string | undefined {
  if (!now.canSend) return strings.closedHint;
  if (now.tooLong) return strings.tooLong;
  return now.waits ? strings.runningHint : undefined;
}

function placeholderFor(running: boolean, canSend: boolean): string {
  if (!canSend) return strings.placeholderClosed;
  return running ? strings.placeholderRunning : strings.placeholder;
}
