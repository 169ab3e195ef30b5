// The composer: Enter sends a message or queues it during a turn, Ctrl+Enter interrupts; text is never lost.
import type { Ref } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { AttachmentView, ChatHead } from '../protocol/webview.ts';
import { AttachmentChips, QueuedChips } from './composerChips.tsx';
import { imagesIn, readImage } from './composerImages.ts';
import { useActions } from './render/actions.ts';
import { Icon } from './render/icons.tsx';
import { strings } from './strings.ts';

const LIMIT = 1_000_000;
/** The limit for a reason for rejecting. */
const REASON_LIMIT = 10_000;

interface Properties {
  readonly draft: string;
  readonly setDraft: (text: string) => void;
  readonly running: boolean;
  readonly canSend: boolean;
  readonly queued: ChatHead['queued'];
  readonly attachments: readonly AttachmentView[];
  /** The draft contains a queued message that was not delivered. */
  readonly returned: boolean;
  /** Calls that wait for an approval. */
  readonly approvals: readonly string[];
  readonly onSent: () => void;
  /** The user's last message, for arrow up in an empty composer. */
  readonly recall: () => string | undefined;
  readonly field: Ref<HTMLTextAreaElement>;
}

export function Composer(properties: Properties) {
  const { draft, setDraft, running, canSend, queued, attachments, returned, approvals, onSent, recall, field } =
    properties;
  const actions = useActions();
  const [problem, setProblem] = useState<string>();
  useEffect(() => setProblem(undefined), [draft, attachments]);

  const empty = draft.trim() === '' && attachments.length === 0;
  const tooLong = draft.length > LIMIT;
  const awaitsApproval = approvals.length > 0;
  const hint = hintFor({
    canSend,
    tooLong,
    problem,
    isTyping: running && !empty,
    awaitsApproval,
    returned: returned && !empty,
  });
  const submit = (type: 'send' | 'interrupt') => {
    if (empty || !canSend || tooLong) return;
    actions.post({ type, text: draft });
    setDraft('');
    onSent();
  };
  const reject = () => {
    const reason = draft.trim();
    for (const call of approvals) actions.post({ type: 'answer_approval', call, action: 'reject', reason });
    setDraft('');
  };
  const onKeyDown = (event: KeyboardEvent) => {
    // During composition Enter belongs to the input method.
    if (event.isComposing) return;
    if (event.key === 'Enter' && !event.shiftKey && !event.altKey) {
      event.preventDefault();
      const interrupts = running && !awaitsApproval && (event.ctrlKey || event.metaKey);
      submit(interrupts ? 'interrupt' : 'send');
    } else if (event.key === 'ArrowUp' && draft === '') {
      const last = recall();
      if (last === undefined) return;
      event.preventDefault();
      setDraft(last);
    }
  };
  const attach = (files: readonly File[]) => {
    for (const file of files) {
      readImage(file).then(
        (read) => (typeof read === 'string' ? setProblem(read) : actions.post(read)),
        () => setProblem(strings.imageUnreadable(file.name)),
      );
    }
  };
  const onImages = (event: Event, files: readonly File[]) => {
    if (files.length === 0) return;
    event.preventDefault();
    attach(files);
  };

  return (
    <div class="composer">
      <QueuedChips queued={queued} withdraw={(id) => actions.post({ type: 'take_back', id })} />
      <AttachmentChips attachments={attachments} detach={(id) => actions.post({ type: 'detach', id })} />
      {awaitsApproval && draft.trim() !== '' && draft.length <= REASON_LIMIT && (
        <div class="composer-choice" role="group" aria-label={strings.approvalChoice}>
          <button type="button" class="secondary" onClick={reject}>
            {strings.rejectWithThis(approvals.length)}
          </button>
          <button type="button" class="secondary" disabled={!canSend || tooLong} onClick={() => submit('send')}>
            {strings.queueInstead}
          </button>
        </div>
      )}
      {hint !== undefined && (
        <p class="hint" id="composer-hint" role="status">
          {hint}
        </p>
      )}
      <div
        class={canSend ? 'field' : 'field closed'}
        onDragOver={(event) => {
          if (event.dataTransfer?.types.includes('Files') === true) event.preventDefault();
        }}
        onDrop={(event) => onImages(event, imagesIn(event.dataTransfer))}
      >
        <textarea
          ref={field}
          rows={1}
          value={draft}
          placeholder={placeholderFor(running, canSend)}
          aria-label={strings.composer}
          {...(hint === undefined ? {} : { 'aria-describedby': 'composer-hint' })}
          onInput={(event) => setDraft(event.currentTarget.value)}
          onKeyDown={onKeyDown}
          onPaste={(event) => onImages(event, imagesIn(event.clipboardData))}
        />
        {running && !empty && !awaitsApproval && (
          <ComposerButton
            kind="interrupt"
            icon="zap"
            disabled={!canSend || tooLong}
            onClick={() => submit('interrupt')}
          />
        )}
        {running && <ComposerButton kind="stop" icon="debug-stop" onClick={() => actions.post({ type: 'stop' })} />}
        {running ? (
          !empty && (
            <ComposerButton kind="queue" icon="send" disabled={!canSend || tooLong} onClick={() => submit('send')} />
          )
        ) : (
          <ComposerButton kind="send" icon="send" disabled={empty || !canSend} onClick={() => submit('send')} />
        )}
      </div>
    </div>
  );
}

interface ButtonProperties {
  readonly kind: 'send' | 'queue' | 'interrupt' | 'stop';
  readonly icon: 'send' | 'zap' | 'debug-stop';
  readonly disabled?: boolean;
  readonly onClick: () => void;
}

function ComposerButton({ kind, icon, disabled = false, onClick }: ButtonProperties) {
  const { label, title } = strings.composerButtons[kind];
  return (
    <button type="button" class={`send ${kind}`} title={title} aria-label={label} disabled={disabled} onClick={onClick}>
      <Icon name={icon} />
    </button>
  );
}

interface HintInput {
  readonly canSend: boolean;
  readonly tooLong: boolean;
  readonly problem: string | undefined;
  readonly isTyping: boolean;
  readonly awaitsApproval: boolean;
  readonly returned: boolean;
}

/** The most important hint for the line above the field. */
export function hintFor({
  canSend,
  tooLong,
  problem,
  isTyping,
  awaitsApproval,
  returned,
}: HintInput): string | undefined {
  if (!canSend) return strings.closedHint;
  if (tooLong) return strings.tooLong;
  if (problem !== undefined) return problem;
  if (!isTyping) return returned ? strings.returnedHint : undefined;
  return awaitsApproval ? strings.awaitsApprovalHint : strings.runningHint;
}

function placeholderFor(running: boolean, canSend: boolean): string {
  if (!canSend) return strings.placeholderClosed;
  return running ? strings.placeholderRunning : strings.placeholder;
}
