// The chip on a carrier's card: the delivered notifications, opening to the exact text sent to the model.
import { useId, useState } from 'preact/hooks';
import type { CarriedView } from '../../protocol/transcript.ts';
import { describeLabel, notificationStrings as strings } from '../strings/notificationStrings.ts';
import { useReveal } from '../cards/reveal.ts';
import { Icon } from './icons.tsx';

/** Labels shown on the closed chip. */
const LABELS = 3;

export function Carried({ carried, item }: { readonly carried: CarriedView; readonly item: string }) {
  const [open, setOpen] = useState(false);
  useReveal([item], () => setOpen(true));
  const id = useId();
  const receipt = strings.receipts[carried.receipt];
  const rest = carried.labels.length - LABELS;
  return (
    <div class={`carried level-${carried.worst}`}>
      <button type="button" class="carried-chip" aria-expanded={open} aria-controls={id} onClick={() => setOpen(!open)}>
        <Icon name="bell" />
        <span class="carried-count">
          {describeContents(carried)}
          {carried.total > 0 && <span class="hidden">, {strings.levels[carried.worst]}</span>}
        </span>
        <span class="carried-state" role="img" title={receipt} aria-label={receipt}>
          <Icon name={carried.receipt === 'accepted' ? 'check' : 'clock'} />
        </span>
        {carried.labels.slice(0, open ? undefined : LABELS).map((label) => (
          <span class="carried-label">{describeLabel(label)}</span>
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
              {receipt}
            </p>
          </>
        )}
      </div>
    </div>
  );
}

/** What the block contains: notifications, queued messages, or both. */
function describeContents({ shown, total, texts }: CarriedView): string {
  const parts = [
    ...(total > 0 ? [strings.shownOf(shown, total)] : []),
    ...(texts > 0 ? [strings.yourMessages(texts)] : []),
  ];
  return parts.join(', ');
}
