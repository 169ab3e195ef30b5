// Renders each kind of transcript item.
import { unreachable } from '../../base/errors.ts';
import { memo } from '../memo.ts';
import type { NoticeItem, PageItem, RequestItem } from '../state.ts';
import { strings } from '../strings.ts';
import { useActions } from './actions.ts';
import { Answer } from './answer.tsx';
import { Carried } from './carried.tsx';
import { Icon } from './icons.tsx';
import { ItemBoundary } from './itemBoundary.tsx';
import { ToolCard } from './toolCard.tsx';
import { visibleText } from './visibleText.ts';

export const Item = memo(function Item({ item }: { readonly item: PageItem }) {
  return (
    <div class={`item item-${item.type}`}>
      <ItemBoundary item={item}>
        <ItemBody item={item} />
      </ItemBoundary>
    </div>
  );
});

function ItemBody({ item }: { readonly item: PageItem }) {
  switch (item.type) {
    case 'request':
      return <Request item={item} />;
    case 'answer':
      return <Answer item={item} />;
    case 'tool':
      return <ToolCard item={item} />;
    case 'notice':
      return <Notice item={item} />;
    default:
      return unreachable(item);
  }
}

function Request({ item }: { readonly item: RequestItem }) {
  const actions = useActions();
  const automated = item.source === 'system';
  const meanwhile = item.meanwhile === true;
  // The heading says it already.
  const text = automated ? item.text.replace(/^Automated event\.\s*/, '') : item.text;
  const label = automated ? strings.automatedEvent : meanwhile ? strings.meanwhile : strings.you;
  return (
    <article class={`request request-${item.source}${meanwhile ? ' request-meanwhile' : ''}`} aria-label={label}>
      {automated && (
        <p class="request-source">
          <Icon name="bell" /> {strings.automatedEvent}
        </p>
      )}
      {!meanwhile && (
        <button
          type="button"
          class="icon-button request-restore"
          title={strings.restoreTitle}
          aria-label={strings.restoreTitle}
          onClick={() => actions.post({ type: 'restore', request: item.id })}
        >
          <Icon name="restore" />
        </button>
      )}
      {text !== '' && <div class="request-text">{text}</div>}
      {item.attachments !== undefined && (
        <ul class="request-attachments" aria-label={strings.attachmentList}>
          {item.attachments.map((name) => (
            <li key={name}>
              <Icon name="file" /> {visibleText(name)}
            </li>
          ))}
        </ul>
      )}
      {item.carried !== undefined && <Carried carried={item.carried} />}
    </article>
  );
}

function Notice({ item }: { readonly item: NoticeItem }) {
  const actions = useActions();
  const { action } = item;
  return (
    <div class={`notice level-${item.level}`}>
      <Icon name={item.level} />
      <div>
        <p>
          <span class="hidden">{strings.levels[item.level]}: </span>
          {item.text}
        </p>
        {item.nextStep !== undefined && <p class="next-step">{item.nextStep}</p>}
        {action !== undefined && (
          <button type="button" class="secondary" onClick={() => actions.post(action.message)}>
            {action.label}
          </button>
        )}
      </div>
    </div>
  );
}
