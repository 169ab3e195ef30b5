// Decides how notifications are shown on the card that carried them: a chip that opens to what the model got, word for word.
import { useId, useState } from 'preact/hooks';
import type { CarriedView } from '../../protocol/webview.ts';
import { strings } from '../strings.ts';
import { Icon } from './icons.tsx';

/** How many labels stand on the closed chip. */
const LABELS = 3;

export function Carried({ carried }: { readonly carried: CarriedView }) {
  const [open, setOpen] = useState(false);
  const id = useId();
  const rest = carried.labels.length - LABELS;
  return (
    <div class={`carried level-${carried.worst}`}>
      <button type="button" class="carried-chip" aria-expanded={open} aria-controls={id} onClick={() => setOpen(!open)}>
        <Icon name="bell" />
        <span class="carried-count">
          {strings.notifications(carried.shown, carried.total)}
          <span class="hidden">, {strings.levels[carried.worst]}</span>
        </span>
        {carried.labels.slice(0, open ? undefined : LABELS).map((label) => (
          <span class="carried-label">{label}</span>
        ))}
        {!open && rest > 0 && <span class="carried-label">{strings.moreLabels(rest)}</span>}
      </button>
      <div id={id} hidden={!open} class="carried-body">
        {open && (
          <>
            <pre tabIndex={0} role="group" aria-label={strings.carriedText}>
              {carried.text}
            </pre>
            <p class="carried-receipt">
              {strings.tokens(carried.tokens)} · {carried.receipt === 'accepted' && <Icon name="check" />}
              {strings.receipts[carried.receipt]}
            </p>
          </>
        )}
      </div>
    </div>
  );
}
