// Groups finished calls of one kind into one row: `Read 32 files, 2 failed`.
import { useId, useState } from 'preact/hooks';
import type { PageItem, ToolItem } from '../state.ts';
import { transcriptStrings as strings } from '../strings/transcriptStrings.ts';
import { toolIcon } from '../toolTitle.ts';
import { Icon } from './icons.tsx';
import { Item } from './item.tsx';

const LEAST = 3;

export type Run =
  | { readonly type: 'one'; readonly item: PageItem }
  | { readonly type: 'group'; readonly items: readonly ToolItem[] };

/** Groups neighbouring calls of the same tool that have ended, changed no file and carried no notification. */
export function groupCalls(items: readonly PageItem[]): Run[] {
  const runs: Run[] = [];
  let open: ToolItem[] = [];
  const close = () => {
    if (open.length >= LEAST) runs.push({ type: 'group', items: open });
    else for (const item of open) runs.push({ type: 'one', item });
    open = [];
  };
  for (const item of items) {
    if (!isQuiet(item)) {
      close();
      runs.push({ type: 'one', item });
      continue;
    }
    if (open[0] !== undefined && open[0].name !== item.name) close();
    open.push(item);
  }
  close();
  return runs;
}

function isQuiet(item: PageItem): item is ToolItem {
  if (item.type !== 'tool' || (item.state !== 'done' && item.state !== 'failed')) return false;
  return item.carried === undefined && item.changes === undefined && item.question === undefined;
}

export function ToolGroup({ items }: { readonly items: readonly ToolItem[] }) {
  const [open, setOpen] = useState(false);
  const id = useId();
  const name = items[0]?.name ?? '';
  const failed = items.filter(({ state }) => state === 'failed').length;
  const title = strings.groupTitle(name, items.length, failed);
  return (
    <div class="item">
      <section class={`tool tool-group ${failed > 0 ? 'state-failed' : 'state-done'}`} aria-label={title}>
        <button type="button" class="tool-head" aria-expanded={open} aria-controls={id} onClick={() => setOpen(!open)}>
          <Icon name={open ? 'chevron-down' : 'chevron-right'} />
          <Icon name={toolIcon(name)} />
          <span class="tool-title">{title}</span>
          <span class="tool-state">
            <Icon name={failed > 0 ? 'error' : 'check'} />
          </span>
        </button>
        <div id={id} hidden={!open} class="tool-group-items">
          {open && items.map((item) => <Item key={item.id} item={item} />)}
        </div>
      </section>
    </div>
  );
}
