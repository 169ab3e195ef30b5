// Says why pending notifications do not wake or interrupt the model, and offers to deliver them now.
import type { ChatHead } from '../protocol/webview.ts';
import { useActions } from './render/actions.ts';
import { Icon } from './render/icons.tsx';
import { strings } from './strings.ts';

export function HeldBack({ heldBack, pending }: Pick<ChatHead, 'heldBack' | 'pending'>) {
  const actions = useActions();
  if (heldBack === null || pending.count === 0) return null;
  return (
    <div class={`held-back level-${pending.worst ?? 'info'}`} role="status">
      <Icon name="bell" />
      <p>{strings.heldBack[heldBack]}</p>
      <button type="button" class="secondary" onClick={() => actions.post({ type: 'deliver_now' })}>
        {strings.deliverNow}
      </button>
    </div>
  );
}
