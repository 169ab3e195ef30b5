// The composer: Enter sends a message or queues it during a turn, Ctrl+Enter interrupts; text is never lost.
import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { CompletionsMessage } from '../../protocol/page/completionsView.ts';
import type { Controls } from '../../protocol/page/controlsView.ts';
import type { AttachmentView, ChatHead } from '../../protocol/webview.ts';
import { QueuedChips } from './composerChips.tsx';
import { imagesIn, urisIn } from './dropped.ts';
import { useLoaded } from '../loaded.ts';
import { DropHint, useDropping } from './dropping.tsx';
import { browse, NOT_BROWSING } from './history.ts';
import { optionId, PICKER_ID, PickerList, usePicker } from './picker.tsx';
import { useActions } from '../render/actions.ts';
import { Icon } from '../render/icons.tsx';
import { composerStrings as ofComposer } from '../strings/composerStrings.ts';
import { strings } from '../strings/strings.ts';

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
  readonly editor: ChatHead['editor'];
  /** The draft contains a queued message that was not delivered. */
  readonly returned: boolean;
  /** Calls that wait for an approval. */
  readonly approvals: readonly string[];
  /** A question waits for an answer. */
  readonly asked: boolean;
  readonly onSent: () => void;
  /** The user's messages in this conversation, the newest first. */
  readonly recall: () => readonly string[];
  /** Those in other conversations, as far as they were requested. */
  readonly prompts: readonly string[];
  readonly sendKey: Controls['sendKey'];
  readonly completions: CompletionsMessage | null;
  readonly field: RefObject<HTMLTextAreaElement | null>;
}

export function Composer(properties: Properties) {
  const {
    draft,
    setDraft,
    running,
    canSend,
    queued,
    attachments,
    editor,
    returned,
    approvals,
    onSent,
    recall,
    prompts,
    field,
    sendKey,
  } = properties;
  const chips = useLoaded(attachments.length > 0 || Boolean(editor), () => import('./attachmentChips.tsx'));
  const browsing = useRef(NOT_BROWSING);
  const awaiting = useRef(false);
  const [caret, setCaret] = useState(0);
  const caretAfterRender = useRef<number | undefined>(undefined);
  const moveCaret = (to: number) => {
    setCaret(to);
    caretAfterRender.current = to;
  };
  // Set together with the new text, so that the next key finds the caret in its place.
  useLayoutEffect(() => {
    const to = caretAfterRender.current;
    caretAfterRender.current = undefined;
    if (to !== undefined) field.current?.setSelectionRange(to, to);
  });
  const picker = usePicker({
    text: draft,
    caret,
    completions: properties.completions,
    replace: (start, end, text) => {
      setDraft(draft.slice(0, start) + text + draft.slice(end));
      moveCaret(start + text.length);
    },
  });
  const mention = () => {
    const gap = draft === '' || /\s$/.test(draft) ? '' : ' ';
    setDraft(`${draft}${gap}@`);
    field.current?.focus();
    moveCaret(draft.length + gap.length + 1);
  };
  const actions = useActions();
  const [problem, setProblem] = useState<string>();
  useEffect(() => setProblem(undefined), [draft, attachments]);

  const empty = draft.trim() === '' && attachments.length === 0;
  const tooLong = draft.length > LIMIT;
  const awaitsApproval = approvals.length > 0;
  const buttonClass = awaitsApproval || properties.asked ? ' is-second' : '';
  const hint = hintFor({
    canSend,
    tooLong,
    problem,
    isTyping: running && !empty,
    awaitsApproval,
    returned: returned && !empty,
  });
  const submit = (type: 'queue' | 'interrupt') => {
    if (empty || !canSend || tooLong) return;
    actions.post({ type, content: draft });
    setDraft('');
    onSent();
  };
  const reject = () => {
    const reason = draft.trim();
    const { conversation, post } = actions;
    for (const tool_call_id of approvals)
      post({ type: 'approve', conversation, tool_call_id, action: 'reject', reason });
    setDraft('');
  };
  /** Shows the next or previous message of the history; returns whether there is one. */
  const move = (key: 'ArrowUp' | 'ArrowDown') => {
    const own = recall();
    const next = browse(key, draft, browsing.current, [...own, ...prompts.filter((text) => !own.includes(text))]);
    if (next === undefined) return false;
    browsing.current = next.browsing;
    setDraft(next.text);
    return true;
  };
  // The key was pressed before the messages of other conversations were known.
  useEffect(() => {
    if (awaiting.current && draft === '') move('ArrowUp');
    awaiting.current = false;
  }, [prompts]);
  const onKeyDown = (event: KeyboardEvent) => {
    // During composition keys belong to the input method.
    if (event.isComposing || event.key === 'Process') return;
    if (picker.onKey(event)) return;
    const modified = event.ctrlKey || event.metaKey;
    if (event.key === 'Enter' && !event.shiftKey && !event.altKey && (sendKey === 'enter' || modified)) {
      event.preventDefault();
      const interrupts = sendKey === 'enter' && running && !awaitsApproval && modified;
      submit(interrupts ? 'interrupt' : 'queue');
    } else if (event.key === 'ArrowUp' || event.key === 'ArrowDown') {
      if (modified || event.altKey || event.shiftKey) return;
      const isMoved = move(event.key);
      if (isMoved) event.preventDefault();
      if (event.key !== 'ArrowUp' || draft !== '' || !actions.offers('list_prompts')) return;
      awaiting.current = !isMoved;
      actions.post({ type: 'list_prompts' });
    } else if (event.key === 'Escape' && running) {
      event.preventDefault();
      actions.post({ type: 'stop' });
    }
  };
  const attach = (files: readonly File[]) => {
    const images = import('./composerImages.ts');
    for (const file of files) {
      const reading = images.then(({ readImage }) => readImage(file));
      reading.then(
        (read) => (typeof read === 'string' ? setProblem(read) : actions.post(read)),
        () => setProblem(strings.imageUnreadable(file.name)),
      );
    }
  };
  const drop = (data: DataTransfer) => {
    const uris = actions.offers('attach_uris') ? urisIn(data) : [];
    const images = actions.offers('attach') ? imagesIn(data) : [];
    const [other] = data.files;
    if (uris.length > 0) actions.post({ type: 'attach_uris', uris });
    else if (images.length > 0) attach(images);
    else if (other !== undefined) setProblem(ofComposer.notDropped(other.name));
    field.current?.focus();
  };
  const dropping = useDropping(drop);
  const onPaste = (event: ClipboardEvent) => {
    const images = imagesIn(event.clipboardData);
    if (images.length === 0 || !actions.offers('attach')) return;
    event.preventDefault();
    attach(images);
  };

  return (
    <div class="composer">
      <QueuedChips queued={queued} actions={actions} />
      {chips && <chips.AttachmentChips attachments={attachments} editor={editor} post={actions.post} />}
      {awaitsApproval && draft.trim() !== '' && draft.length <= REASON_LIMIT && (
        <div class="composer-choice" role="group" aria-label={strings.approvalChoice}>
          <button type="button" class="secondary" onClick={reject}>
            {strings.rejectWithThis(approvals.length)}
          </button>
          <button type="button" class="secondary" disabled={!canSend || tooLong} onClick={() => submit('queue')}>
            {strings.queueInstead}
          </button>
        </div>
      )}
      {hint !== undefined && (
        <p class="hint" id="composer-hint" role="status">
          {hint}
        </p>
      )}
      <PickerList picker={picker} />
      {dropping && <DropHint />}
      <div class={canSend ? 'field' : 'field closed'}>
        {actions.offers('attach') && !actions.offers('attach_uris') && <ImageButton attach={attach} />}
        {actions.offers('complete') && (
          <button
            type="button"
            class="icon-button composer-attach"
            title={
              actions.offers('attach_uris') ? `${ofComposer.attach} ${ofComposer.dropShift}` : ofComposer.attachFiles
            }
            aria-label={actions.offers('attach_uris') ? ofComposer.attach : ofComposer.attachFiles}
            onClick={mention}
          >
            <Icon name="add" />
          </button>
        )}
        <textarea
          ref={field}
          dir="auto"
          rows={1}
          value={draft}
          placeholder={placeholderFor(properties)}
          aria-label={strings.composer}
          {...(hint === undefined ? {} : { 'aria-describedby': 'composer-hint' })}
          {...(picker.open && {
            'aria-controls': PICKER_ID,
            'aria-activedescendant': optionId(picker.active),
          })}
          onInput={(event) => {
            setDraft(event.currentTarget.value);
            setCaret(event.currentTarget.selectionStart);
          }}
          onSelect={(event) => setCaret(event.currentTarget.selectionStart)}
          onKeyDown={onKeyDown}
          onPaste={onPaste}
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
            <ComposerButton
              kind="queue"
              icon="send"
              class={buttonClass}
              disabled={!canSend || tooLong}
              onClick={() => submit('queue')}
            />
          )
        ) : (
          <ComposerButton
            kind="send"
            icon="send"
            class={buttonClass}
            disabled={empty || !canSend}
            onClick={() => submit('queue')}
          />
        )}
      </div>
    </div>
  );
}

/** For hosts where files cannot be dropped from an editor. */
function ImageButton({ attach }: { readonly attach: (files: readonly File[]) => void }) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={input}
        type="file"
        class="hidden"
        accept="image/png,image/jpeg,image/gif,image/webp"
        multiple
        tabIndex={-1}
        aria-hidden="true"
        onChange={({ currentTarget }) => {
          attach([...(currentTarget.files ?? [])]);
          // Allows the same file to be chosen again.
          currentTarget.value = '';
        }}
      />
      <button
        type="button"
        class="icon-button composer-attach"
        title={ofComposer.attachImages}
        aria-label={ofComposer.attachImages}
        onClick={() => input.current?.click()}
      >
        <Icon name="file-media" />
      </button>
    </>
  );
}

interface ButtonProperties {
  readonly kind: 'send' | 'queue' | 'interrupt' | 'stop';
  readonly icon: 'send' | 'zap' | 'debug-stop';
  readonly disabled?: boolean;
  readonly class?: string;
  readonly onClick: () => void;
}

function ComposerButton({ kind, icon, disabled = false, class: more = '', onClick }: ButtonProperties) {
  const { label, title } = strings.composerButtons[kind];
  return (
    <button
      type="button"
      class={`send ${kind}${more}`}
      title={title}
      aria-label={label}
      disabled={disabled}
      onClick={onClick}
    >
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

function placeholderFor({ running, canSend, approvals, asked }: Properties): string {
  if (!canSend) return strings.placeholderClosed;
  if (approvals.length > 0) return strings.placeholderApproval;
  if (asked) return strings.placeholderQuestion;
  return running ? strings.placeholderRunning : strings.placeholder;
}
