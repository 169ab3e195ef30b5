// The list of conversations in the panel: search, state and actions; and their tabs where there is room.
import { useEffect, useRef, useState } from 'preact/hooks';
import type {
  ConversationActivity,
  ConversationsMessage,
  ConversationView,
} from '../../protocol/page/conversationsView.ts';
import type { ChatHead } from '../../protocol/webview.ts';
import { formatAge, panelStrings as strings } from '../strings/panelStrings.ts';
import { useActions } from '../render/actions.ts';
import { Icon, type IconName, IconButton } from '../render/icons.tsx';
import { MenuButton } from './menu.tsx';
import { describeLeft } from './parentBar.tsx';
import { visibleText } from '../render/visibleText.ts';

const SEARCH_AFTER = 150;

const ACTIVITY_ICONS: Record<ConversationActivity, IconName> = {
  approval: 'warning',
  question: 'question',
  running: 'loading',
  failed: 'error',
  unread: 'circle-filled',
};

interface Properties {
  readonly head: ChatHead;
  readonly listed: ConversationsMessage | null;
  readonly close: () => void;
}

export function Conversations({ head, listed, close }: Properties) {
  const { post } = useActions();
  const [query, setQuery] = useState('');
  const [renaming, setRenaming] = useState<string>();
  const panel = useRef<HTMLElement>(null);
  const search = useRef<HTMLInputElement>(null);
  useEffect(() => search.current?.focus(), []);
  const others = JSON.stringify(head.others);
  useEffect(() => {
    const timer = setTimeout(() => post({ type: 'list_conversations', query }), query === '' ? 0 : SEARCH_AFTER);
    return () => clearTimeout(timer);
  }, [query, others, head.title, head.conversation, renaming]);

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape') close();
    else if (event.key === 'ArrowDown') moveFocus(panel.current, 1);
    else if (event.key === 'ArrowUp') moveFocus(panel.current, -1);
    else return;
    event.preventDefault();
  };
  // The list of the previous search stays until the next one has answered.
  const items = listed?.items ?? [];
  const isSearching = listed === null || listed.searching || listed.query !== query.trim();
  return (
    <section class="conversations" aria-label={strings.conversations} ref={panel} onKeyDown={onKeyDown}>
      <div class="conversations-head">
        <input
          type="search"
          class="search"
          ref={search}
          value={query}
          maxLength={1000}
          placeholder={strings.searchConversations}
          aria-label={strings.searchConversations}
          onInput={(event) => setQuery(event.currentTarget.value)}
        />
        <IconButton
          icon="add"
          label={strings.newChat}
          run={() => {
            post({ type: 'new_chat' });
            close();
          }}
        />
        <IconButton icon="close" label={strings.close} run={close} />
      </div>
      <ul class="conversation-rows">
        {items.map((item) => (
          <Row
            key={item.id}
            item={item}
            shown={item.id === head.conversation}
            renaming={renaming === item.id}
            setRenaming={(on) => setRenaming(on ? item.id : undefined)}
            close={close}
          />
        ))}
      </ul>
      <p class="conversations-end quiet" role="status">
        {describeList(items.length, isSearching, query)}
      </p>
    </section>
  );
}

function describeList(count: number, isSearching: boolean, query: string): string {
  if (isSearching) return strings.searching;
  if (count > 0) return strings.foundCount(count);
  return query.trim() === '' ? strings.noConversations : strings.noMatch;
}

/** Moves the focus between the search field and the rows, in a circle. */
function moveFocus(panel: HTMLElement | null, by: 1 | -1): void {
  if (panel === null) return;
  const stops = [...panel.querySelectorAll<HTMLElement>('.search, .conversation-open')];
  const at = stops.indexOf(document.activeElement as HTMLElement);
  stops[(Math.max(0, at) + by + stops.length) % stops.length]?.focus();
}

interface RowProperties {
  readonly item: ConversationView;
  readonly shown: boolean;
  readonly renaming: boolean;
  readonly setRenaming: (on: boolean) => void;
  readonly close: () => void;
}

function Row({ item, shown, renaming, setRenaming, close }: RowProperties) {
  const { post, offers } = useActions();
  const { id, activity, excerpt, problem, subagent } = item;
  const title = titleOf(item);
  const marks = [item.forked === true ? strings.forkLabel : '', modelName(item.choice?.model), describeLeft(item)]
    .filter((one) => one !== '')
    .join(' · ');
  const open = () => {
    post({ type: 'open_conversation', id });
    close();
  };
  const fork = () => {
    post({ type: 'fork', conversation: id });
    close();
  };
  if (renaming) return <Renaming item={item} done={() => setRenaming(false)} />;
  return (
    <li class={`conversation-row${shown ? ' is-shown' : ''}${subagent?.nested === true ? ' is-nested' : ''}`}>
      <button
        type="button"
        class="conversation-open"
        title={title}
        onClick={open}
        {...(shown && { 'aria-current': 'true' })}
      >
        <span class="conversation-title">
          {subagent !== undefined && (
            <span class="conversation-subagent">
              <Icon name="fork" />
              <span class="hidden">{strings.subagent}</span>{' '}
            </span>
          )}
          {title}
        </span>
        {item.lastActivity > 0 && <span class="conversation-age">{formatAge(Date.now() - item.lastActivity)}</span>}
        {activity !== undefined && (
          <span class={`conversation-activity activity-${activity}`}>
            <Icon name={ACTIVITY_ICONS[activity]} /> {strings.activities[activity]}
          </span>
        )}
        {marks !== '' && <span class="conversation-marks">{marks}</span>}
        {(problem ?? excerpt) !== undefined && (
          <span class="conversation-excerpt">{visibleText(problem ?? excerpt ?? '')}</span>
        )}
      </button>
      {offers('rename') && (
        <MenuButton
          class="icon-button conversation-more"
          label={strings.actionsFor(title)}
          choices={[
            { id: 'rename', label: strings.rename, icon: 'edit', run: () => setRenaming(true) },
            {
              id: 'fork',
              label: strings.fork,
              icon: 'fork',
              run: fork,
            },
            ...(offers('export')
              ? [
                  {
                    id: 'export',
                    label: strings.export,
                    icon: 'export' as const,
                    run: () => post({ type: 'export', conversation: id }),
                  },
                ]
              : []),
            {
              id: 'delete',
              label: strings.delete,
              icon: 'trash',
              run: () => post({ type: 'delete', conversation: id }),
            },
          ]}
        >
          <Icon name="ellipsis" />
        </MenuButton>
      )}
    </li>
  );
}

function Renaming({ item, done }: { readonly item: ConversationView; readonly done: () => void }) {
  const { post } = useActions();
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    field.current?.focus();
    field.current?.select();
  }, []);
  const save = () => {
    const title = field.current?.value.trim() ?? '';
    if (title !== '' && title !== item.title) post({ type: 'rename', conversation: item.id, title });
    done();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.isComposing) return;
    if (event.key === 'Enter') save();
    else if (event.key === 'Escape') done();
    else if (event.key !== 'ArrowUp' && event.key !== 'ArrowDown') return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <li class="conversation-row">
      <input
        ref={field}
        class="search"
        defaultValue={item.title}
        maxLength={200}
        aria-label={strings.newTitle}
        onKeyDown={onKeyDown}
        onBlur={save}
      />
    </li>
  );
}

function titleOf({ title, problem }: Pick<ConversationView, 'title' | 'problem'>): string {
  if (problem !== undefined) return strings.damagedTitle;
  return title === '' ? strings.emptyTitle : visibleText(title);
}

/** Shown only in a wide panel, and only if other conversations have an activity. */
export function ConversationTabs({ head }: { readonly head: ChatHead }) {
  const { post } = useActions();
  if (head.others.length === 0) return null;
  const shown = head.title === '' ? strings.newChat : visibleText(head.title);
  return (
    <nav class="tabs" aria-label={strings.openConversations}>
      <button type="button" class="tab is-shown" aria-current="page" title={shown}>
        <span class="tab-title">{shown}</span>
      </button>
      {head.others.map(({ id, title, activity, model }) => (
        <button
          type="button"
          key={id}
          class="tab"
          title={`${visibleText(title)} (${[strings.activities[activity], modelName(model)].filter(Boolean).join(' · ')})`}
          onClick={() => post({ type: 'open_conversation', id })}
        >
          <span class={`activity-${activity}`}>
            <Icon name={ACTIVITY_ICONS[activity]} />
          </span>
          <span class="tab-title">{titleOf({ title })}</span>
          <span class="hidden">{strings.activities[activity]}</span>
        </button>
      ))}
    </nav>
  );
}

/** Without its provider; empty if none was chosen. */
function modelName(model?: string): string {
  return model === '' ? 'Guide' : visibleText(model?.slice(model.lastIndexOf('/') + 1) ?? '');
}
