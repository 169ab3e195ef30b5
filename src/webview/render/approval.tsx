// Decides how the user is asked before a tool runs: in full, from the keyboard, and never by accident.
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ToolItem } from '../state.ts';
import { strings } from '../strings.ts';
import { toolTitle } from '../toolTitle.ts';
import { useActions } from './actions.ts';
import { ToolArguments } from './toolArguments.tsx';

/** How long after the last key someone still counts as typing. */
const TYPING = 1500;
let lastKey = 0;
if (typeof window !== 'undefined') window.addEventListener('keydown', () => (lastKey = performance.now()), true);

export function Approval({ item }: { readonly item: ToolItem }) {
  const actions = useActions();
  const group = useRef<HTMLDivElement>(null);
  const [reason, setReason] = useState('');
  const [sent, setSent] = useState(false);
  const answered = useRef(false);
  useEffect(() => {
    // The group takes the keyboard, not a button: a key pressed in this moment must not answer.
    if (group.current !== null && mayTakeFocus()) group.current.focus();
    return () => {
      // Whoever answered here from the keyboard stood on a button that is gone now.
      if (answered.current && document.activeElement === document.body) actions.focusComposer();
    };
  }, []);

  const answer = (action: 'approve' | 'reject') => {
    if (sent) return;
    setSent(true);
    answered.current = true;
    const given = reason.trim();
    const withReason = action === 'reject' && given !== '';
    actions.post({ type: 'answer_approval', call: item.id, action, ...(withReason ? { reason: given } : {}) });
  };
  const onReasonKey = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.isComposing) return;
    event.preventDefault();
    answer('reject');
  };

  return (
    <div
      class="approval"
      role="group"
      tabIndex={-1}
      ref={group}
      aria-label={strings.approvalLabel(toolTitle(item.name, item.arguments))}
    >
      <p class="approval-question">{strings.approvalQuestion[item.name] ?? strings.approvalQuestionOther(item.name)}</p>
      <ToolArguments name={item.name} values={item.arguments} />
      {/* Not `disabled`, which would drop the keyboard's place before the card has changed. */}
      <div class="approval-buttons">
        <button type="button" class="primary" aria-disabled={sent} onClick={() => answer('approve')}>
          {strings.approve}
        </button>
        <button type="button" class="secondary" aria-disabled={sent} onClick={() => answer('reject')}>
          {strings.reject}
        </button>
        <input
          type="text"
          class="reason"
          value={reason}
          maxLength={10_000}
          readOnly={sent}
          placeholder={strings.rejectReason}
          aria-label={strings.rejectReason}
          onInput={(event) => setReason(event.currentTarget.value)}
          onKeyDown={onReasonKey}
        />
      </div>
    </div>
  );
}

function mayTakeFocus(): boolean {
  if (!document.hasFocus()) return false;
  const active = document.activeElement;
  if (active === null || active === document.body) return true;
  const writing = active instanceof HTMLTextAreaElement || active instanceof HTMLInputElement;
  return writing && active.value === '' && performance.now() - lastKey > TYPING;
}
