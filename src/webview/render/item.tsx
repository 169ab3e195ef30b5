// Renders each kind of transcript item.
import { unreachable } from '../../base/errors.ts';
import { t } from '../strings/l10n.ts';
import { useWords } from '../strings/words.ts';
import { memo } from '../memo.ts';
import type { NoticeItem, PageItem } from '../state.ts';
import { notificationStrings as ofNotifications } from '../strings/notificationStrings.ts';
import { useActions } from './actions.ts';
import { Answer } from './answer.tsx';
import { Icon } from './icons.tsx';
import { ItemBoundary } from './itemBoundary.tsx';
import { Request } from './request.tsx';
import { ToolCard } from './toolCard.tsx';

export const Item = memo(function Item({ item }: { readonly item: PageItem }) {
  return (
    <div class={`item item-${item.type}`} data-item={item.id}>
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

function Notice({ item }: { readonly item: NoticeItem }) {
  const actions = useActions();
  const inWords = useWords();
  const { action } = item;
  return (
    <div class={`notice level-${item.level}`}>
      <Icon name={item.level} />
      <div>
        <p>
          <span class="hidden">{ofNotifications.levels[item.level]}: </span>
          {inWords(item.text, item.failure)}
        </p>
        {item.nextStep !== undefined && <p class="next-step">{inWords(item.nextStep)}</p>}
        {action !== undefined && actions.offers(action.message.type) && (
          <button type="button" class="secondary" onClick={() => actions.post(action.message)}>
            {t(action.label)}
          </button>
        )}
      </div>
    </div>
  );
}
