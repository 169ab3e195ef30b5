// The list above the composer of what the model will be notified of next, with actions on each entry.
import { useEffect, useId, useState } from 'preact/hooks';
import type { Mute, PendingEntry } from '../../protocol/page/pendingView.ts';
import type { ChatHead } from '../../protocol/webview.ts';
import { t } from '../strings/l10n.ts';
import { formatAge } from '../strings/panelStrings.ts';
import { describeLabel, notificationStrings as strings } from '../strings/notificationStrings.ts';
import { useActions } from '../render/actions.ts';
import { Icon, type IconName, IconButton } from '../render/icons.tsx';
import { MenuButton } from './menu.tsx';
import { shortCount, StripList } from './strip.tsx';
import { visibleText } from '../render/visibleText.ts';

/** Ages are shown in minutes, so they are updated this often. */
const TICK = 20_000;

const LEVEL_ICONS = {
  info: 'info',
  warning: 'warning',
  error: 'error',
  critical: 'error',
} satisfies Record<PendingEntry['level'], IconName>;

export function PendingDrawer({ pending, heldBack }: Pick<ChatHead, 'pending' | 'heldBack'>) {
  const { post, offers } = useActions();
  useTick(pending.count > 0);
  if (pending.count === 0) return null;
  const [first] = pending.entries;
  const unlisted = pending.count - pending.entries.reduce((sum, { count }) => sum + count, 0);
  const held = heldBack === null ? undefined : strings.heldBack[heldBack];
  return (
    <StripList
      name="drawer"
      level={pending.worst ?? 'info'}
      label={strings.pending}
      icon="bell"
      count={shortCount(pending.count)}
      summary={strings.pendingCount(pending.count)}
      note={first && describeLabel(first)}
      status={held}
    >
      {() => (
        <>
          <p class="sheet-head">{strings.pendingCount(pending.count)}</p>
          {held !== undefined && <p class="held-back">{held}</p>}
          <div class="drawer-actions">
            <button
              type="button"
              class="secondary"
              title={strings.deliverNowTitle}
              onClick={() => post({ type: 'deliver' })}
            >
              {strings.deliverNow}
            </button>
            {offers('show_notifications') && (
              <button
                type="button"
                class="link"
                title={strings.showAll}
                aria-label={strings.showAll}
                onClick={() => post({ type: 'show_notifications' })}
              >
                {strings.showAllBrief}
              </button>
            )}
          </div>
          <ul class="drawer-rows">
            {pending.entries.map((entry) => (
              <Entry key={entry.ids[0]} entry={entry} />
            ))}
          </ul>
          {unlisted > 0 && <p class="quiet drawer-more">{strings.andMore(unlisted)}</p>}
        </>
      )}
    </StripList>
  );
}

function Entry({ entry }: { readonly entry: PendingEntry }) {
  const [open, setOpen] = useState(false);
  const { post, offers } = useActions();
  const id = useId();
  const { ids, level, source, name, path, at, tokens, count } = entry;
  const label = describeLabel(entry);
  const muting = (mute: Mute) => () => post({ type: 'mute', mute });
  const kind = { source, name };
  return (
    <li class={`drawer-row level-${level}`}>
      <div class="drawer-line">
        <button
          type="button"
          class="drawer-open"
          aria-expanded={open}
          aria-controls={id}
          onClick={() => setOpen(!open)}
        >
          <span class="drawer-level" role="img" title={strings.levels[level]} aria-label={strings.levels[level]}>
            <Icon name={LEVEL_ICONS[level]} />
          </span>
          <span class="drawer-label">{label}</span>
          <span class="drawer-detail">
            {[
              strings.sources[source] ?? source,
              formatAge(Date.now() - Date.parse(at)),
              ...(count > 1 ? [strings.times(count)] : []),
              strings.tokens(tokens),
            ].map((part, index) => [index > 0 && ' · ', <span key={part}>{part}</span>])}
          </span>
        </button>
        <IconButton
          icon="close"
          label={strings.dismissOne(label)}
          title={strings.dismiss}
          run={() => post({ type: 'dismiss', notification_ids: ids.slice(0, 10_000) })}
        />
        {offers('mute') && (
          <MenuButton
            class="icon-button"
            label={strings.muteOne(label)}
            choices={[
              {
                id: 'kind',
                label: strings.muteKind(visibleText(t(entry.label))),
                run: muting({ by: 'kind', kind }),
              },
              ...(path === undefined
                ? []
                : [{ id: 'path', label: strings.mutePath(visibleText(path)), run: muting({ by: 'path', path }) }]),
              {
                id: 'source',
                label: strings.muteSource(visibleText(strings.sources[source] ?? source)),
                run: muting({ by: 'source', kind }),
              },
            ]}
          >
            <Icon name="bell-slash" />
          </MenuButton>
        )}
      </div>
      <div id={id} hidden={!open}>
        {open && (
          <pre class="drawer-text" tabIndex={0} role="group" aria-label={strings.text}>
            {visibleText(entry.message)}
          </pre>
        )}
      </div>
    </li>
  );
}

function useTick(active: boolean): void {
  const [, setTime] = useState(0);
  useEffect(() => {
    if (!active) return;
    const timer = setInterval(() => setTime(Date.now()), TICK);
    return () => clearInterval(timer);
  }, [active]);
}
