// The ring beside the meter: how many of the files that the model knows are as it knows them. Opens the list. Loaded with the
// first file.
import { useState } from 'preact/hooks';
import type { FreshnessCounts } from '../../protocol/page/freshnessView.ts';
import { useActions } from '../render/actions.ts';
import type { PageState } from '../state.ts';
import { freshnessStrings as strings } from '../strings/freshnessStrings.ts';
import { FreshnessPanel } from './freshnessPanel.tsx';
import { Ring } from './ring.tsx';

interface Properties {
  readonly counts: FreshnessCounts;
  readonly comparison: PageState['freshness'];
}

export function FreshnessButton({ counts, comparison }: Properties) {
  const { offers } = useActions();
  const [open, setOpen] = useState(false);
  const known = counts.current + counts.reported;
  const total = known + counts.pending + counts.unshown;
  if (!offers('read_freshness') || total + counts.deleted === 0) return null;
  return (
    <>
      <button
        type="button"
        class="footer-button freshness"
        title={strings.title}
        aria-expanded={open}
        onClick={() => setOpen(!open)}
      >
        <Ring share={total === 0 ? 1 : known / total} level={known === total ? 'info' : 'warning'} />
        <span class="hidden">{strings.counts(counts)}</span>
        <span class="freshness-brief" aria-hidden="true">
          {strings.brief(known, total)}
        </span>
      </button>
      {open && <FreshnessPanel counts={counts} comparison={comparison} close={() => setOpen(false)} />}
    </>
  );
}
