// The model's to-do list: above the composer, and on the card of the call that writes it.
import type { TodoItem } from '../../protocol/todo.ts';
import { memo } from '../memo.ts';
import { StripList } from '../panel/strip.tsx';
import { strings } from '../strings/strings.ts';
import { Icon } from './icons.tsx';
import { visibleText } from './visibleText.ts';

export const TodoList = memo(function TodoList({ items }: { readonly items: readonly TodoItem[] }) {
  if (items.length === 0) return null;
  const done = items.filter(({ state }) => state === 'done').length;
  const current = items.find(({ state }) => state === 'doing');
  const summary = strings.todoCount(done, items.length);
  return (
    <StripList
      name="todo"
      label={strings.todo}
      icon="check"
      count={`${done}/${items.length}`}
      summary={summary}
      note={current && visibleText(current.text)}
    >
      {() => (
        <>
          <p class="sheet-head">
            {strings.todo} <span class="quiet">{summary}</span>
          </p>
          <TodoItems items={items} />
        </>
      )}
    </StripList>
  );
});

export function TodoItems({ items }: { readonly items: readonly TodoItem[] }) {
  return (
    <ul class="todo-items" tabIndex={0} aria-label={strings.todoItems}>
      {items.map(({ text, state }, index) => (
        <li key={index} class={`todo-item todo-${state}`}>
          <span class="todo-mark">{state === 'done' && <Icon name="check" />}</span>
          <span>
            <span class="hidden">{strings.todoStates[state]}: </span>
            {visibleText(text)}
          </span>
        </li>
      ))}
    </ul>
  );
}

/** The list in the arguments of a call, which may be incomplete; undefined if they have none. */
export function todoItemsIn({ items }: Readonly<Record<string, unknown>>): readonly TodoItem[] | undefined {
  if (!Array.isArray(items)) return undefined;
  return items.flatMap((item: Partial<Record<keyof TodoItem, unknown>> | null) => {
    if (typeof item?.text !== 'string') return [];
    return [{ text: item.text, state: item.state === 'done' || item.state === 'doing' ? item.state : 'open' }];
  });
}
